import Foundation
import GRDB
import HealthModel

extension HealthStore {
  /// Adds readings: values that a source reports again as they change, such as a day's activity summary
  /// (``SampleIdentity/uuid(ofReading:sender:)``).
  ///
  /// The store holds the newest of each, by ``Sample/created``. A newer reading replaces the older one without a
  /// tombstone. An older reading changes nothing, and of an equal one only the time is recorded. A deleted reading
  /// stays deleted, whatever its new value. A time more than a day ahead of this machine's clock counts as now.
  @discardableResult
  public func add(readings samples: [Sample]) async throws(StoreError) -> WriteSummary {
    try await write { [self] db in try add(readings: samples, db: db) }
  }

  /// Adds readings within a transaction.
  ///
  /// - Parameters:
  ///   - undo: the journal of the import that writes.
  ///   - road: the road by which the samples came.
  ///   - sender: the name of the sender; empty for a file.
  func add(
    readings: [Sample], undo: UndoJournal? = nil, road: SampleRoad = .unknown, sender: String = "", db: Database
  ) throws -> WriteSummary {
    var writer = ReadingWriter(
      try SampleWriter(db, epochs: epochs, now: now, undo: undo, road: road), sender: sender, db)
    for sample in readings { try writer.add(sample) }
    return try writer.finish()
  }
}

/// A writer that replaces older readings by newer ones, many at once.
private struct ReadingWriter {
  /// The maximum time that a reading may be ahead of this machine's clock, in microseconds. A reading further ahead
  /// would block all newer ones until then.
  private static let maximumLead: Int64 = 86_400_000_000

  private let db: Database
  private var writer: SampleWriter
  private let sender: String
  private var deletions: DeletedSamples
  private var waiting = ChangeCoder()
  /// The identities of readings that wait to be written. The store's content for them is known only after that.
  private var places: Set<UUID> = []
  private var unchanged: [SampleType: Int] = [:]
  private var refused: [SampleType: Int] = [:]

  init(_ writer: SampleWriter, sender: String, _ db: Database) {
    (self.db, self.writer, self.sender) = (db, writer, sender)
    deletions = DeletedSamples(db)
  }

  mutating func add(_ sample: Sample) throws {
    var reading = sample
    reading.uuid = SampleIdentity.uuid(ofReading: sample, sender: sender)
    if !places.insert(reading.uuid).inserted {
      try flush()
      places.insert(reading.uuid)
    }
    var present = try held(reading)
    if present == nil, try isDeleted(reading, as: sample) {
      guard let restored = try restored(reading) else {
        refused[sample.type, default: 0] += 1
        return
      }
      reading.uuid = restored
      present = try held(reading)
    }
    let known = try present.map { held in
      max(held.sample.created ?? .distantPast, try Repetition.last(of: held.change, db) ?? .distantPast)
    }
    reading.created = time(of: reading, known: known)
    if let present, let known {
      let said = reading.created ?? .distantPast
      if present.sample.readsSame(as: reading) {
        if said > known { try Repetition.note(said, of: present.change, db) }
        unchanged[sample.type, default: 0] += 1
        return
      }
      if said < known {
        unchanged[sample.type, default: 0] += 1
        return
      }
    }
    try waiting.add(reading)
  }

  /// Returns whether there is a tombstone for the reading, or for the same reading without a sender, as earlier
  /// versions wrote it.
  private func isDeleted(_ reading: Sample, as sample: Sample) throws -> Bool {
    if try writer.isDeleted(reading.reference) { return true }
    var anonymous = sample
    anonymous.uuid = SampleIdentity.uuid(ofReading: sample)
    return try anonymous.uuid != reading.uuid && writer.isDeleted(anonymous.reference)
  }

  /// Returns the time at which the reading counts as reported.
  private func time(of reading: Sample, known: Timestamp?) -> Timestamp? {
    func isAhead(_ time: Timestamp) -> Bool { time.microseconds > writer.now.microseconds + Self.maximumLead }
    guard [reading.created, known].compactMap(\.self).contains(where: isAhead) else { return reading.created }
    let next = known.map { Timestamp(microseconds: max($0.microseconds, $0.microseconds &+ 1)) }
    return max(writer.now, next ?? writer.now)
  }

  private func held(_ reading: Sample) throws -> (sample: Sample, change: Int64)? {
    guard let type = try reading.type.id(in: db) else { return nil }
    let stored = try StoredSamples.read(db, where: "type = ? AND start = ? AND uuid = ?") {
      $0.bind(type)
      $0.bind(reading.start.microseconds)
      $0.bind(reading.uuid)
    }
    guard let change = stored.sampleNumbers.first else { return nil }
    return try stored.samples.first.map { row in
      (try stored.expanded { _, expander in try expander.sample(row) }, change)
    }
  }

  /// Returns the identity under which a deleted reading was restored.
  private func restored(_ reading: Sample) throws -> UUID? {
    guard let type = try reading.type.id(in: db) else { return nil }
    return try deletions.restored(reading.uuid, start: reading.start.microseconds, type: type)?.uuid
  }

  private mutating func flush() throws {
    try writer.write(waiting.changes)
    waiting = ChangeCoder()
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

extension Timestamp {
  fileprivate static let distantPast = Timestamp(microseconds: .min)
}
