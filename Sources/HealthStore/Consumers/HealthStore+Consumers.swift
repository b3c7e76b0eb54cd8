import GRDB
import HealthModel

/// The position of a ``FeedConsumer``.
public struct ConsumerPosition: Hashable, Sendable {
  /// The name that the owner chose.
  public var name: String
  /// The filter of the last request.
  public var filter: SampleFilter
  /// The position up to which everything was processed, except for additions of a wider filter.
  public var anchor: Anchor
  /// The maximum number of changes that were not processed. It includes changes that the consumer does not want.
  public var behind: Int
  /// Whether the consumer has passed any change or has a repeatable page in hand. If not, everything is still to
  /// come.
  public var hasBegun: Bool
  /// The time of the last progress.
  public var updated: Timestamp
}

extension HealthStore {
  /// The treatment of delivered samples that a new filter excludes.
  public enum Narrowing: Hashable, Sendable {
    /// The consumer keeps the samples and is told when they are deleted.
    case keep
    /// The consumer is told that the samples are deleted.
    case withdraw
  }

  /// Returns the consumer with this name, or creates it at the beginning of the feed. It exists until it is removed.
  ///
  /// The filter may differ from the last one. Samples that it adds are delivered in addition to new ones, and
  /// `narrowing` determines what happens to samples that it excludes. The consumer receives nothing twice.
  ///
  /// Tombstones that a consumer has not passed are kept for it: remove an abandoned consumer with
  /// ``removeConsumer(_:)``.
  ///
  /// - Parameters:
  ///   - name: chosen by the owner, such as `mqtt:home`.
  ///   - filter: the samples that the consumer wants.
  ///   - receipt: the saved receipt of the last page. If it does not belong to this consumer's last page, the
  ///     consumer starts over.
  ///   - other: for a new consumer, the name of another consumer that has the samples which this one is to withdraw.
  ///     This one is also told of samples removed by undone imports that the other one has not been told of.
  @discardableResult
  public func consumer(
    _ name: String, filter: SampleFilter = .everything, whenNarrowed narrowing: Narrowing = .keep,
    receipt: ConsumerReceipt? = nil, owedAs other: String? = nil
  ) async throws(StoreError) -> FeedConsumer {
    @Sendable func states(_ db: Database) throws -> (row: ConsumerRow?, wanted: ConsumerState) {
      let row = try ConsumerRow.fetch(name, db)
      guard var state = row?.state.selecting(filter, withdraws: narrowing == .withdraw) else {
        let owing = try other.flatMap { try ConsumerRow.fetch($0, db) }
        let undone = try owing?.state.undone ?? WithdrawnSamples.last(db)
        return (nil, ConsumerState(filter: filter, undone: undone, isReset: receipt != nil))
      }
      if let receipt, try !receipt.isCurrent(state, db) { state.startOver(undone: try WithdrawnSamples.last(db)) }
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

  /// Returns the positions of all consumers, by name.
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

  /// Makes a consumer start over with a page that says so (``ConsumerPage/startsOver``). If there is no such
  /// consumer, creates it if a filter is given, and otherwise does nothing.
  ///
  /// - Parameter filter: the new filter of the consumer, or `nil` to keep the current one.
  public func startConsumerOver(_ name: String, with filter: SampleFilter? = nil) async throws(StoreError) {
    try await write { db in
      let row = try ConsumerRow.fetch(name, db)
      guard let filter = filter ?? row?.state.filter else { return }
      let state = ConsumerState(filter: filter, undone: try WithdrawnSamples.last(db), isReset: true)
      if let row {
        try ConsumerRow.replace(row.revision, with: state, of: name, db)
      } else {
        try ConsumerRow.insert(name, state, db)
      }
    }
  }

  /// Removes a consumer. A new consumer with the same name begins at the beginning.
  ///
  /// - Returns: whether the consumer existed.
  @discardableResult
  public func removeConsumer(_ name: String) async throws(StoreError) -> Bool {
    try await write { db in try ConsumerRow.remove(name, db) }
  }
}
