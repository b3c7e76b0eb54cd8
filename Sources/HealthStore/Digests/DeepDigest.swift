import GRDB
import HealthModel

extension HealthStore.Digests {
  /// Returns a digest as ``current(_:months:)`` does that also covers the content of the samples, as far as a reader
  /// with this filter may see it (``SampleRedaction``). Reads every sample within one transaction, so use it for a number
  /// of samples that takes only moments (``RecordDigest/parts(ofAtMost:)``).
  public func deep(
    _ filter: SampleFilter = .everything, months: ClosedRange<CalendarMonth>? = nil
  ) async throws(StoreError) -> StoreDigest {
    try await store.read { [store] db in
      let counter = try Schema.counter(db)
      store.epochs.saw(counter)
      let sources = try FilterCondition.from(filter.sources, db)
      var scan = DigestScan(db, sources: sources)
      var contents = ContentScan(db, filter.cut, sources)
      let types = try filter.types.map { types in Set(try types.compactMap { try $0.id(in: db) }) }
      let wanted = months.map { $0.lowerBound.instants.lowerBound...$0.upperBound.instants.upperBound }
      if let instants = filter.instants, wanted?.overlaps(instants) ?? true {
        let covered = wanted?.clamped(to: instants) ?? instants
        let range = covered.lowerBound.microseconds...covered.upperBound.microseconds
        for type in try types ?? Int64.fetchSet(db, sql: "SELECT id FROM type") {
          try scan.starts(of: type, in: range)
          try contents.starts(of: type, in: range)
        }
      }
      return StoreDigest(
        record: try scan.sums.record(TypeNames(db), contents: contents.sums), anchor: Anchor(change: counter),
        epoch: try Epoch.covering(counter, db))
    }
  }
}

/// Sums of the hashes of whole samples.
private struct ContentScan {
  private let db: Database
  private let cut: SampleRedaction
  private let sources: String
  private var hasher = ContentHasher()
  private(set) var sums: [DigestSums.Key: UInt128] = [:]

  init(_ db: Database, _ cut: SampleRedaction, _ sources: String) {
    self.db = db
    self.cut = cut
    self.sources = sources
  }

  mutating func starts(of type: Int64, in range: ClosedRange<Int64>) throws {
    try StoredSamples.forEach(
      db, where: "type = \(type) AND start BETWEEN \(range.lowerBound) AND \(range.upperBound)\(sources)"
    ) { sample in
      let month = CalendarMonth(containing: sample.start)
      sums[DigestSums.Key(type: type, month: month.number), default: 0] &+= hasher.hash(cut.applied(to: sample))
    }
  }
}
