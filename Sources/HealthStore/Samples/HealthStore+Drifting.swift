import Foundation
import GRDB
import HealthModel

extension HealthStore {
  /// Adds samples whose values change from one reading to the next, such as a day's activity summary.
  ///
  /// A newer reading (by ``Sample/created``) of the same thing (``Sample/isReading(ofSameAs:)``) takes the place of the older
  /// one: a tombstone and an addition. An older reading changes nothing. Where the last one was deleted, none is added.
  @discardableResult
  public func replace(drifting samples: [Sample]) async throws(StoreError) -> WriteSummary {
    try await write { [self] db in try replace(drifting: samples, db: db) }
  }

  /// - Parameters:
  ///   - undo: of the import that writes.
  ///   - road: how the samples came.
  ///   - others: see ``receive(_:drifting:road:keeping:crowd:event:if:)``.
  func replace(
    drifting samples: [Sample], undo: UndoJournal? = nil, road: SampleRoad = .unknown,
    keeping others: Set<Timestamp> = [], db: Database
  ) throws -> WriteSummary {
    var replacement = try DriftingReplacement(db, epochs: epochs, undo: undo, road: road, keeping: others)
    for sample in samples { try replacement.add(sample) }
    return try replacement.finish()
  }
}

/// Puts newer readings in the places of older ones, many with one write.
private struct DriftingReplacement {
  private struct Place: Hashable {
    var type: SampleType
    var start: Timestamp
  }

  private let db: Database
  private var writer: SampleWriter
  private let others: Set<Timestamp>
  private var waiting = ChangeCoder()
  private var replacements: [UUID: UUID] = [:]
  /// Type and start of each sample that waits to be written: what the store has there is known only after that.
  private var places: Set<Place> = []
  private var unchanged: [SampleType: Int] = [:]
  private var refused: [SampleType: Int] = [:]

  init(
    _ db: Database, epochs: EpochKeeper, undo: UndoJournal?, road: SampleRoad, keeping others: Set<Timestamp>
  ) throws {
    (self.db, self.others) = (db, others)
    writer = try SampleWriter(db, epochs: epochs, undo: undo, road: road)
  }

  mutating func add(_ sample: Sample) throws {
    if !places.insert(Place(type: sample.type, start: sample.start)).inserted {
      try flush()
      places.insert(Place(type: sample.type, start: sample.start))
    }
    if try isThere(sample) {
      unchanged[sample.type, default: 0] += 1
      return
    }
    let present = try readings(ofSameAs: sample)
    let read = sample.created ?? .distantPast
    if present.contains(where: { $0.readsSame(as: sample) || $0.created ?? .distantPast > read }) {
      unchanged[sample.type, default: 0] += 1
      return
    }
    if try present.contains(where: { try mayStay($0, beside: sample) }) {
      unchanged[sample.type, default: 0] += 1
      return
    }
    if present.isEmpty, try isDeleted(sample) {
      refused[sample.type, default: 0] += 1
      return
    }
    // A value that comes back after another has a tombstone of its own: it needs a new identity.
    var sample = sample
    var ordinal = 0
    while try present.contains(where: { $0.uuid == sample.uuid }) || writer.isDeleted(sample.reference) {
      ordinal += 1
      sample.uuid = SampleIdentity.uuid(ofDrifting: sample, ordinal: ordinal)
    }
    for old in present {
      waiting.add(Tombstone(sample: old.reference, deleted: .now))
      replacements[old.uuid] = sample.uuid
    }
    try waiting.add(sample)
  }

  /// Whether a reading is another sender's and as good as a newer one: taken when its time had ended, and saying as much.
  private func mayStay(_ present: Sample, beside newer: Sample) throws -> Bool {
    guard let taken = present.created, others.contains(taken), taken >= present.timeEnded else { return false }
    return try present.payload.statedValues >= newer.payload.statedValues
  }

  /// Whether this very reading is in the store, told without making a sample of what is.
  private func isThere(_ sample: Sample) throws -> Bool {
    guard case .activitySummary = sample.payload, let type = try sample.type.id(in: db) else { return false }
    let payload = try CodedPayload(sample.payload).json
    let metadata = sample.metadata.isEmpty ? nil : MetadataText.encode(sample.metadata)
    var query = try Binding(db, "SELECT payload, metadata FROM sample WHERE type = ? AND start = ? AND uuid = ?")
    query.bind(type)
    query.bind(sample.start.microseconds)
    query.bind(sample.uuid)
    var isThere = false
    try query.rows(db) { row in
      isThere = row.text(0) == payload && row.text(1) == metadata
      return false
    }
    return isThere
  }

  /// Whether there were readings of this, of which none is left. What has one at a time is deleted whatever it said.
  private func isDeleted(_ sample: Sample) throws -> Bool {
    guard let type = try sample.type.id(in: db) else { return false }
    return Payload.kindsOneAtATime.contains(sample.payload.kind)
      ? try KnownIdentities.hasAny(.tombstone, start: sample.start.microseconds, type: type, db)
      : try writer.isDeleted(sample.reference)
  }

  private func readings(ofSameAs sample: Sample) throws -> [Sample] {
    guard let type = try sample.type.id(in: db) else { return [] }
    return try StoredSamples.fetch(db, where: "type = ? AND start = ?") {
      $0.bind(type)
      $0.bind(sample.start.microseconds)
    }.filter { $0.isReading(ofSameAs: sample) }
  }

  private mutating func flush() throws {
    try writer.write(waiting.changes, replacements: replacements)
    waiting = ChangeCoder()
    replacements.removeAll()
    places.removeAll()
  }

  mutating func finish() throws -> WriteSummary {
    try flush()
    try writer.finish()
    var summary = writer.summary
    for (type, count) in unchanged { summary.add(.init(unchanged: count), of: type) }
    for (type, count) in refused { summary.add(.init(refused: count), of: type) }
    return summary
  }
}

extension Sample {
  /// When there can be nothing more to read of its time. The reading of a night has that of one instant, of the day on which it
  /// ended.
  fileprivate var timeEnded: Timestamp {
    end > start ? end : Timestamp(microseconds: start.microseconds.addingReportingOverflow(86_400_000_000).partialValue)
  }
}

extension Timestamp {
  fileprivate static let distantPast = Timestamp(microseconds: .min)
}
