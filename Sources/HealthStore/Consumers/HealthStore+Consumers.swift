import GRDB
import HealthModel

/// Where a ``FeedConsumer`` stands.
public struct ConsumerPosition: Hashable, Sendable {
  /// As its owner chose it.
  public var name: String
  /// What it was last asked for with.
  public var filter: SampleFilter
  /// Everything up to here has been dealt with, but for what a wider filter has added.
  public var anchor: Anchor
  /// The changes of the store that it has not dealt with, at most: those are counted too that it does not want.
  public var behind: Int
  /// Whether it has passed any change, or a repeatable page is handed out. If not, everything still comes.
  public var hasBegun: Bool
  /// When it last went on.
  public var updated: Timestamp
}

extension HealthStore {
  /// What becomes of samples that a consumer has, and that its new filter does not let through.
  public enum Narrowing: Hashable, Sendable {
    /// The consumer keeps them as they are, and is told when they are deleted.
    case keep
    /// The consumer is told that they are deleted.
    case withdraw
  }

  /// The consumer of this name, which begins at the beginning if there is none. It is there until somebody removes it.
  ///
  /// The filter may be another than last time. What it adds comes in addition to what is new, and what it excludes is for
  /// `narrowing` to say; nothing comes a second time that the consumer has.
  ///
  /// Tombstones that a consumer has not passed are kept for it: whoever gives one up removes it with ``removeConsumer(_:)``.
  ///
  /// - Parameters:
  ///   - name: chosen by its owner, such as `mqtt:home`.
  ///   - filter: what it wants.
  ///   - receipt: what its owner kept of the last page. One that is not of this consumer's last page makes it start over.
  ///   - other: of a consumer that is new, the name of one that has what this one is to take back: whatever of that the other
  ///     has yet to hear that an undone import took back, this one is told, too.
  @discardableResult
  public func consumer(
    _ name: String, filter: SampleFilter = .everything, whenNarrowed narrowing: Narrowing = .keep,
    receipt: ConsumerReceipt? = nil, owedAs other: String? = nil
  ) async throws(StoreError) -> FeedConsumer {
    @Sendable func states(_ db: Database) throws -> (row: ConsumerRow?, wanted: ConsumerState) {
      let row = try ConsumerRow.fetch(name, db)
      guard var state = row?.state.selecting(filter, withdraws: narrowing == .withdraw) else {
        let owing = try other.flatMap { try ConsumerRow.fetch($0, db) }
        let undone = try owing?.state.undone ?? UndoneSamples.last(db)
        return (nil, ConsumerState(filter: filter, undone: undone, isReset: receipt != nil))
      }
      if let receipt, try !receipt.isCurrent(state, db) { state.startOver(undone: try UndoneSamples.last(db)) }
      return (row, state)
    }
    let isAsWanted = try await read { db in
      let (row, wanted) = try states(db)
      return row?.state == wanted
    }
    var isNew = false
    if !isAsWanted {
      isNew = try await write { db in
        let (row, wanted) = try states(db)
        if let row {
          try ConsumerRow.replace(row.revision, with: wanted, of: name, db)
        } else {
          try ConsumerRow.insert(name, wanted, db)
        }
        return row == nil
      }
    }
    return FeedConsumer(name: name, filter: filter, isNew: isNew, store: self)
  }

  /// All consumers, by name.
  public func consumers() async throws(StoreError) -> [ConsumerPosition] {
    try await read { db in
      let counter = try Schema.counter(db)
      return try ConsumerRow.fetchAll(db).map { row in
        let position = row.state.position
        return ConsumerPosition(
          name: row.name, filter: row.state.filter, anchor: Anchor(change: position),
          behind: Int(max(0, counter - position)), hasBegun: position > 0 || row.state.inHand != nil,
          updated: row.updated)
      }
    }
  }

  /// Has a consumer begin anew with a page that says so (``ConsumerPage/startsOver``). Where there is none, one begins so if
  /// a filter is given, and nothing is done otherwise.
  ///
  /// - Parameter filter: what it wants from now on, whatever it had; as before by default.
  public func startConsumerOver(_ name: String, with filter: SampleFilter? = nil) async throws(StoreError) {
    try await write { db in
      let row = try ConsumerRow.fetch(name, db)
      guard let filter = filter ?? row?.state.filter else { return }
      let state = ConsumerState(filter: filter, undone: try UndoneSamples.last(db), isReset: true)
      if let row {
        try ConsumerRow.replace(row.revision, with: state, of: name, db)
      } else {
        try ConsumerRow.insert(name, state, db)
      }
    }
  }

  /// Forgets a consumer. One of the same name begins at the beginning.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  public func removeConsumer(_ name: String) async throws(StoreError) -> Bool {
    try await write { db in try ConsumerRow.remove(name, db) }
  }
}
