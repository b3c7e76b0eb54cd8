import Crypto
import Foundation
import HealthAnalysis
import HealthModel

/// A record as HealthPush lays it out in a bucket, layout v1: a file of records for each type and day, and a manifest
/// beside it.
///
///     [PREFIX/]v1/METRIC_KEY/YYYY/MM/DD/data.jsonl     or data.json, data.csv
///     [PREFIX/]v1/METRIC_KEY/YYYY/MM/DD/_manifest.json
///
/// The day is that on which the sample starts, in the person's home zone. What is delivered is merged into the file by
/// UUID, so that it may come again: a file that has it already is not written. A file is only written where it is still
/// what was merged into, and else merged again, so that several writers lose nothing of each other's.
///
/// A file with something that cannot be read is first copied whole to `data.jsonl.HASH.bad` beside it; then what can be
/// read of it goes on.
struct DayFiles: Sendable {
  /// What a person may choose of the files.
  struct Options: Hashable, Sendable {
    /// Empty, or a path with a `/` at its end.
    var prefix = ""
    var format = DayFileFormat.ndjson
    /// With the numbers that HealthPush writes of six types: kilometres that are called metres, and so on.
    var isCompatible = false
    /// With the whole sample beside HealthPush's members, where the format has a place for it.
    var hasWholeSamples = true
  }

  /// The file of one type and day.
  struct Place: Hashable, Sendable {
    var key: String
    /// Days since 1970-01-01.
    var day: Int
  }

  /// In bytes. A day of ECGs, routes and readings by the second has some ten million.
  static let largestObject = 256 << 20

  /// What becomes of samples whose file is larger than ``largestObject``: all others go on.
  static func tooLarge(_ name: String) -> DeliveryError {
    .refused(reason: "\(name) is larger than any file that is read")
  }

  /// How often a file is merged anew that others write at the same time.
  private static let attempts = 10

  private let store: any ObjectStore
  private let options: Options
  private let zone: ZoneRules

  /// - Parameter zone: whose days there are files of.
  init(in store: any ObjectStore, _ options: Options, zone: ZoneRules) {
    (self.store, self.options, self.zone) = (store, options, zone)
  }

  // MARK: Delivering

  /// Merges a batch into the files of its days: deletions first, then additions, which win.
  ///
  /// - Returns: what is of files that the place refuses for good, such as those that are too large.
  /// - Throws: ``DeliveryError``, `DecodingError` where the store is damaged. Some of the files may have been written.
  @discardableResult
  func deliver(_ batch: DeliveryBatch) async throws -> [RefusedSample] {
    let coder = try RecordCoder(batch.changes, options, zone: zone)
    var parts: [Place: Part] = [:]
    for row in batch.changes.tombstones { parts[coder.place(of: row), default: Part()].tombstones.append(row) }
    for row in batch.changes.samples { parts[coder.place(of: row), default: Part()].samples.append(row) }
    // In order, so that two writers with the same to say do not meet in one file after the other.
    let places = parts.keys.sorted { $0.key != $1.key ? $0.key < $1.key : $0.day < $1.day }
    let width = places.isEmpty ? 1 : try await store.concurrentWrites()
    let refused = try await withThrowingTaskGroup(of: [RefusedSample].self) { group in
      var refused: [RefusedSample] = []
      for (index, place) in places.enumerated() {
        if index >= width { refused += try await group.next() ?? [] }
        guard let part = parts.removeValue(forKey: place) else { continue }
        group.addTask {
          do {
            try await merge(try RecordChanges(part, coder), into: place)
            return []
          } catch DeliveryError.refused(let reason) {
            return part.refused(reason, batch.changes.types)
          }
        }
      }
      for try await found in group { refused += found }
      return refused
    }
    // Also of what was found as it should be: who wrote it may have been killed before this.
    try await store.synchronize(places.map(dataName(of:)))
    return refused
  }

  private struct Part {
    var tombstones: [CodedTombstone] = []
    var samples: [CodedSample] = []

    func refused(_ reason: String, _ types: [SampleType]) -> [RefusedSample] {
      let references =
        tombstones.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
        + samples.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
      return references.map { RefusedSample($0, reason: reason) }
    }
  }

  /// What becomes of the records of one file.
  private struct RecordChanges: Sendable {
    /// Of deleted samples that leave no record.
    var removed: [UUID] = []
    var records: [DayFile.Record] = []

    init(_ part: Part, _ coder: RecordCoder) throws {
      for row in part.tombstones {
        if let record = try coder.record(row) { records.append(record) } else { removed.append(row.uuid) }
      }
      records += try part.samples.map(coder.record)
    }

    /// - Returns: whether that changes anything.
    func apply(to file: inout DayFile) -> Bool {
      var hasChanged = false
      // Of a tombstone and a sample with one UUID the sample counts, which comes later.
      let last = Dictionary(records.map { ($0.uuid, $0) }) { $1 }
      for uuid in removed where last[uuid] == nil { hasChanged = file.remove(uuid) || hasChanged }
      for record in last.values { hasChanged = file.put(record) || hasChanged }
      return hasChanged
    }
  }

  private func merge(_ changes: RecordChanges, into place: Place) async throws {
    let name = dataName(of: place)
    for _ in 0..<Self.attempts {
      let object = try await store.get(name)
      var (file, isWhole) =
        object.map { DayFile.reading($0.bytes, as: options.format) } ?? (DayFile(options.format), true)
      guard changes.apply(to: &file) else {
        // What was cut off between the two writes is made up for.
        if object != nil { try await writeManifest(of: file, place, unlessItCounts: true) }
        return
      }
      if !isWhole, let object { try await keepAside(object.bytes, name) }
      do {
        try await store.put(
          file.bytes(), at: name, contentType: options.format.contentType,
          if: object.map { .unchanged($0.version) } ?? .absent)
      } catch is ObjectConflict {
        continue
      }
      try await writeManifest(of: file, place)
      return
    }
    throw DeliveryError.temporary(reason: "\(name) is being written by others all the time")
  }

  /// Copies what cannot be read to a name of its own, made of its bytes: the same is kept once.
  private func keepAside(_ bytes: [UInt8], _ name: String) async throws {
    let hash = SHA256.hash(data: bytes).prefix(6).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    do {
      try await store.put(
        bytes, at: "\(name).\(hash.joined()).bad", contentType: "application/octet-stream", if: .absent)
    } catch is ObjectConflict {
      // It is there already.
    }
  }

  // MARK: Manifests

  private struct Manifest: Decodable {
    var recordCount: Int
  }

  private func writeManifest(of file: DayFile, _ place: Place, unlessItCounts: Bool = false) async throws {
    let name = folder(of: place) + "_manifest.json"
    if unlessItCounts, let object = try await store.get(name),
      let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(object.bytes)),
      manifest.recordCount == file.count
    {
      return
    }
    let text = """
      {
        "schemaVersion": "1.0",
        "metric": "\(place.key)",
        "date": "\(Self.date(place.day, separator: "-"))",
        "recordCount": \(file.count),
        "lastModified": "\(RecordCoder.date(.now))"
      }
      """
    try await store.put(Array(text.utf8), at: name, contentType: "application/json", if: .always)
  }

  // MARK: Names

  /// What all files are in, without a slash at its end.
  static func folder(_ options: Options) -> String { "\(options.prefix)v1" }

  private func folder(of place: Place) -> String {
    "\(Self.folder(options))/\(place.key)/\(Self.date(place.day, separator: "/"))/"
  }

  private func dataName(of place: Place) -> String { "\(folder(of: place))data.\(options.format.fileExtension)" }

  private static func date(_ day: Int, separator: String) -> String {
    let civil = Timestamp(seconds: Int64(day) * 86_400).civil
    func text(_ number: Int, _ width: Int) -> String {
      let digits = String(abs(number))
      return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return [text(civil.year, 4), text(civil.month, 2), text(civil.day, 2)].joined(separator: separator)
  }

  // MARK: Trying out

  /// Finds out whether the place can be delivered to.
  ///
  /// - Parameter needsConditions: see ``ObjectStoreProbe``.
  func check(needsConditions: Bool) async throws {
    try await ObjectStoreProbe.run(store, prefix: options.prefix, needsConditions: needsConditions)
  }
}
