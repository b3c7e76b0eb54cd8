import GRDB
import HealthModel

/// Reads what a consumer is to be given next, within one read of the store.
struct ConsumerReader {
  /// After what was read.
  private(set) var state: ConsumerState
  /// Nothing came after what was read.
  private(set) var isLast = false

  private let db: Database
  private let feed: FeedReader

  init(_ state: ConsumerState, _ db: Database, _ epochs: EpochKeeper) {
    self.state = state
    self.db = db
    feed = FeedReader(db, epochs)
  }

  /// Empty only where nothing is left.
  mutating func next(limit: Int) throws -> CodedChanges {
    let counter = try requirePosition()
    let undone = try UndoneSamples.after(state.undone, passing: state.possible, limit: limit, db)
    state.advance(undone: undone.last)
    if !undone.changes.isEmpty { return undone.changes }
    while !isLast {
      let changes = try read(state.step, upTo: counter, limit: limit)
      if !changes.isEmpty { return changes }
    }
    return CodedChanges()
  }

  /// The store's counter.
  private mutating func requirePosition() throws -> Int64 {
    do {
      return try feed.requirePosition(Anchor(change: state.position), state.epoch)
    } catch StoreError.anchorOutOfRange {
      state.startOver(undone: try UndoneSamples.last(db))
      return try feed.requirePosition(.zero, nil)
    }
  }

  private mutating func read(_ step: ConsumerState.Step, upTo counter: Int64, limit: Int) throws -> CodedChanges {
    let walk: FeedReader.Walk
    var changes: CodedChanges
    switch step {
    case .withdraw(let first, let filters):
      walk = try feed.walk(
        after: first, upTo: counter, samples: FilterCondition(anyOf: filters, butNot: [state.filter], db: db),
        tombstones: FilterCondition(anyOf: filters, butNot: [state.filter], after: state.position, db: db), limit: limit
      )
      changes = walk.stored.changes.deletions(at: .now)
    case .complete(let first, let last, let filters):
      walk = try feed.walk(
        after: first, upTo: last, samples: FilterCondition(anyOf: [state.filter], butNot: filters, db: db),
        tombstones: nil, limit: limit)
      changes = walk.stored.changes
    case .follow(let first, let filters):
      walk = try feed.walk(
        after: first, upTo: counter, samples: FilterCondition(state.filter, db: db),
        tombstones: FilterCondition(anyOf: filters, db: db), limit: limit)
      changes = walk.stored.changes
      isLast = walk.isWhole
    }
    state.advance(step, to: walk.end, isWhole: walk.isWhole, epoch: try Epoch.covering(walk.end, db))
    return changes
  }
}

extension CodedChanges {
  /// With its samples as if they had been deleted.
  fileprivate func deletions(at instant: Timestamp) -> CodedChanges {
    CodedChanges(
      types: types,
      tombstones: tombstones
        + samples.map { CodedTombstone(type: $0.type, start: $0.start, uuid: $0.uuid, deleted: instant) })
  }
}
