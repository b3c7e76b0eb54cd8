import Foundation
import GRDB
import HealthModel

/// The change numbers of the samples that one sender sent first. Numbers are never assigned again, so a few ranges
/// suffice. Samples that had come by another road before, and samples that another copy has replaced, are not
/// included.
struct SentChanges: Codable {
  /// The first and last numbers of the ranges, in ascending order.
  private var ranges: [[Int64]] = []

  /// Assigns all numbers after `before`, up to the store's last, to this sender.
  ///
  /// - Parameter limit: the number of ranges to keep, newest first.
  static func note(_ sender: String, after before: Int64, limit: Int = 65_536, _ db: Database) throws {
    let last = try Schema.counter(db)
    guard last > before else { return }
    var sent = try read(sender, db)
    if sent.ranges.last?.last == before {
      sent.ranges[sent.ranges.count - 1][1] = last
    } else {
      sent.ranges.append([before + 1, last])
    }
    sent.ranges.removeFirst(max(0, sent.ranges.count - limit))
    let text = String(decoding: try JSONEncoder().encode(sent), as: UTF8.self)
    try HealthStore.setPosition(text, of: key(sender), db: db)
  }

  static func read(_ sender: String, _ db: Database) throws -> SentChanges {
    let text = try String.fetchOne(db, sql: "SELECT token FROM position WHERE consumer = ?", arguments: [key(sender)])
    let sent = text.flatMap { try? JSONDecoder().decode(Self.self, from: Data($0.utf8)) } ?? SentChanges()
    return sent.ranges.allSatisfy { $0.count == 2 } ? sent : SentChanges()
  }

  private static func key(_ sender: String) -> String { "sent:\(sender)" }

  func contains(_ change: Int64) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle][1] < change { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low][0] <= change
  }
}

extension HealthStore.Samples {
  /// Returns at most `limit` samples of a type that a sender sent first, that start within `range`, and that are not
  /// in `listed`.
  public func unlisted(
    of type: SampleType, sentBy sender: String, in range: Range<Timestamp>, listed: Set<UUID>, limit: Int
  ) async throws(StoreError) -> [Sample] {
    try await store.read { db in
      guard let id = try type.id(in: db) else { return [] }
      let sent = try SentChanges.read(sender, db)
      let stored = try StoredSamples.read(db, where: "type = ? AND start >= ? AND start < ?") {
        $0.bind(id)
        $0.bind(range.lowerBound.microseconds)
        $0.bind(range.upperBound.microseconds)
      }
      let (samples, numbers) = (stored.samples, stored.sampleNumbers)
      let missing = samples.indices.filter {
        !listed.contains(samples[$0].uuid) && sent.contains(numbers[$0])
      }.prefix(limit)
      guard !missing.isEmpty else { return [] }
      return try stored.expanded { _, expander in try missing.map { try expander.sample(samples[$0]) } }
    }
  }
}
