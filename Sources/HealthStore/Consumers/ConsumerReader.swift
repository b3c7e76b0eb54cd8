import GRDB
import HealthModel

/// A reader of the next page of a consumer, within one read of the store.
struct ConsumerReader {
  struct Page {
    var changes: CodedChanges
    /// The part of the store that the page covers, or `nil` if nothing is left.
    var part: ConsumerState.Part?
    /// The consumer's state before the page.
    var before: ConsumerState
    /// The consumer's state after the page.
    var after: ConsumerState
    /// Whether nothing else was left.
    var isLast: Bool
  }

  private var state: ConsumerState
  private var isLast = false
  private let db: Database
  private let feed: FeedReader

  init(_ state: ConsumerState, _ db: Database, _ epochs: EpochKeeper) {
    self.state = state
    self.db = db
    feed = FeedReader(db, epochs)
  }

  /// Returns the page in hand, without changes that are gone since, or else the next page that is not empty.
  mutating func page(limit: Int) throws -> Page {
    let counter = try requirePosition()
    let before = state
    if let inHand = state.inHand, let after = inHand.after.first {
      return Page(
        changes: try changes(inHand.part), part: inHand.part, before: before, after: after, isLast: false)
    }
    let (changes, part) = try next(upTo: counter, limit: limit)
    return Page(changes: changes, part: part, before: before, after: state, isLast: isLast)
  }

  /// Returns the store's counter. If the consumer's position is no longer valid, the consumer starts over.
  private mutating func requirePosition() throws -> Int64 {
    do {
      return try feed.requirePosition(Anchor(change: state.position), state.epoch)
    } catch StoreError.anchorOutOfRange {
      state.startOver(undone: try WithdrawnSamples.last(db))
      return try feed.requirePosition(.zero, nil)
    }
  }

  private mutating func next(upTo counter: Int64, limit: Int) throws -> (CodedChanges, ConsumerState.Part?) {
    let undone = try WithdrawnSamples.after(state.undone, passing: state.possible, limit: limit, db)
    state.advance(undone: undone.last)
    if !undone.changes.isEmpty { return (undone.changes, .undone(upTo: undone.last)) }
    while !isLast {
      let step = state.step
      let read = try walk(step, upTo: counter, limit: limit)
      if case .follow = step { isLast = read.isWhole }
      state.advance(step, to: read.end, isWhole: read.isWhole, epoch: try Epoch.covering(read.end, db))
      if !read.stored.isEmpty { return (changes(step, read), .step(step, upTo: read.end)) }
    }
    return (CodedChanges(), nil)
  }

  private func changes(_ part: ConsumerState.Part) throws -> CodedChanges {
    switch part {
    case .undone(let last):
      try WithdrawnSamples.after(state.undone, upTo: last, passing: state.possible, limit: .max, db).changes
    // The page had an acceptable size when it was handed out.
    case .step(let step, let last): changes(step, try walk(step, upTo: last, limit: .max, text: .max))
    }
  }

  private func walk(
    _ step: ConsumerState.Step, upTo end: Int64, limit: Int, text: Int = FeedReader.maximumText
  ) throws -> FeedReader.Walk {
    let filter = state.filter
    switch step {
    case .withdraw(let first, let filters):
      return try feed.walk(
        after: first, upTo: end, samples: FilterCondition(anyOf: filters, butNot: [filter], db: db),
        tombstones: FilterCondition(anyOf: filters, butNot: [filter], after: state.position, db: db), shown: true,
        limit: limit, text: text)
    case .complete(let first, let last, let filters):
      return try feed.walk(
        after: first, upTo: min(last, end), samples: FilterCondition(anyOf: [filter], butNot: filters, db: db),
        tombstones: nil, shown: true, limit: limit, text: text)
    case .follow(let first, let filters):
      return try feed.walk(
        after: first, upTo: end, samples: FilterCondition(filter, db: db),
        tombstones: FilterCondition(anyOf: filters, db: db), shown: true, limit: limit, text: text)
    }
  }

  private func changes(_ step: ConsumerState.Step, _ walk: FeedReader.Walk) -> CodedChanges {
    guard case .withdraw = step else { return walk.stored.changes }
    return walk.stored.changes.deletions(at: .now)
  }
}

extension CodedChanges {
  /// Returns deletions in place of the samples.
  fileprivate func deletions(at instant: Timestamp) -> CodedChanges {
    CodedChanges(
      types: types, sources: sources,
      tombstones: tombstones
        + samples.map { CodedTombstone(type: $0.type, start: $0.start, uuid: $0.uuid, deleted: instant) })
  }
}
