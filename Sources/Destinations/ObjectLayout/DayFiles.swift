import Cryptography
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
  struct Place: Hashable, Sendable, Comparable {
    var key: String
    /// Days since 1970-01-01.
    var day: Int

    static func < (lhs: Self, rhs: Self) -> Bool { (lhs.key, lhs.day) < (rhs.key, rhs.day) }
  }

  /// In bytes. A day of ECGs, routes and readings by the second has some ten million.
  static let largestObject = 256 << 20

  /// What becomes of samples whose file is larger than ``largestObject``: all others go on.
  static func tooLarge(_ name: String) -> DeliveryError {
    .refused(reason: "\(name) is larger than any file that is read")
  }

  /// In bytes. What is larger is merged alone, so that no two such files are in memory at once.
  private static let largeObject = 16 << 20

  /// How often a file is merged anew that others write at the same time.
  private static let attempts = 10

  private let store: any ObjectStore
  private let options: Options
  private let zone: ZoneRules
  private let latest = WrittenFile()

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
    let all = changes(of: batch.changes, coder)
    let width = all.isEmpty ? 1 : try await store.concurrentWrites()
    var (refused, large): ([RefusedSample], [DayFileChanges]) = ([], [])
    func note(_ outcome: Outcome, of changes: DayFileChanges) {
      switch outcome {
      case .merged: break
      case .large: large.append(changes)
      case .refused(let reason): refused += changes.refused(reason, batch.changes.types)
      }
    }
    try await withThrowingTaskGroup(of: (Outcome, DayFileChanges).self) { group in
      for (index, changes) in all.enumerated() {
        if index >= width, let (outcome, changes) = try await group.next() { note(outcome, of: changes) }
        group.addTask { (try await merge(changes, coder, isAlone: false), changes) }
      }
      for try await (outcome, changes) in group { note(outcome, of: changes) }
    }
    for changes in large { note(try await merge(changes, coder, isAlone: true), of: changes) }
    // Also of what was found as it should be: who wrote it may have been killed before this.
    try await store.synchronize(all.map { dataName(of: $0.place) })
    return refused
  }

  /// File by file, in order, so that two writers with the same to say do not meet in one file after the other.
  private func changes(of batch: CodedChanges, _ coder: RecordCoder) -> [DayFileChanges] {
    var found: [Place: DayFileChanges] = [:]
    for row in batch.tombstones {
      let place = coder.place(of: row)
      found[place, default: DayFileChanges(place: place)].tombstones.append(row)
    }
    for row in batch.samples {
      let place = coder.place(of: row)
      found[place, default: DayFileChanges(place: place)].samples.append(row)
    }
    if let last = batch.samples.last { found[coder.place(of: last)]?.endsBatch = true }
    return found.values.sorted { $0.place < $1.place }
  }

  private enum Outcome {
    case merged
    /// Nothing was done: the file is larger than what is merged beside others.
    case large
    case refused(String)
  }

  /// - Parameter isAlone: whether no other file is merged meanwhile.
  private func merge(_ changes: DayFileChanges, _ coder: RecordCoder, isAlone: Bool) async throws -> Outcome {
    let name = dataName(of: changes.place)
    let records = try RecordChanges(changes, coder)
    do {
      for _ in 0..<Self.attempts {
        let object: StoredObject?
        do {
          object = try await store.get(name, limit: isAlone ? Self.largestObject : Self.largeObject)
        } catch DeliveryError.refused where !isAlone {
          return .large
        }
        if try await merge(records, into: object, changes.place, endsBatch: changes.endsBatch) { return .merged }
      }
    } catch DeliveryError.refused(let reason) {
      return .refused(reason)
    }
    throw DeliveryError.temporary(reason: "\(name) is being written by others all the time")
  }

  /// - Returns: whether it is done; otherwise others have written the file meanwhile.
  private func merge(
    _ records: RecordChanges, into object: StoredObject?, _ place: Place, endsBatch: Bool
  ) async throws -> Bool {
    guard let object else { return try await makeFile(of: records, place, endsBatch: endsBatch) }
    let name = dataName(of: place)
    var (file, isWhole) = read(object.bytes, name)
    guard records.apply(to: &file) else {
      // What was cut off between the two writes is made up for.
      try await writeManifest(place, count: file.count, unlessItCounts: true)
      return true
    }
    if !isWhole { try await keepAside(object.bytes, name) }
    let bytes = file.bytes()
    guard try await put(bytes, name, if: .unchanged(object.version)) else { return false }
    if endsBatch { latest.note(file, name, bytes) }
    try await writeManifest(place, count: file.count)
    return true
  }

  /// - Returns: whether it is done; otherwise others have made the file meanwhile.
  private func makeFile(of records: RecordChanges, _ place: Place, endsBatch: Bool) async throws -> Bool {
    let name = dataName(of: place)
    if records.count == 0 { return true }
    guard try await put(records.file, name, if: .absent) else { return false }
    if endsBatch {
      var file = DayFile(options.format)
      _ = records.apply(to: &file)
      latest.note(file, name, records.file)
    }
    try await writeManifest(place, count: records.count)
    return true
  }

  /// - Returns: whether the condition held.
  private func put(_ bytes: [UInt8], _ name: String, if condition: PutCondition) async throws -> Bool {
    do {
      try await store.put(bytes, at: name, contentType: options.format.contentType, if: condition)
      return true
    } catch is ObjectConflict {
      return false
    }
  }

  private func read(_ bytes: [UInt8], _ name: String) -> (file: DayFile, isWhole: Bool) {
    latest.file(name, bytes).map { ($0, true) } ?? DayFile.reading(bytes, as: options.format)
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

  private func writeManifest(_ place: Place, count: Int, unlessItCounts: Bool = false) async throws {
    let name = folder(of: place) + "_manifest.json"
    if unlessItCounts, let object = try await store.get(name),
      let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(object.bytes)),
      manifest.recordCount == count
    {
      return
    }
    let text = """
      {
        "schemaVersion": "1.0",
        "metric": "\(place.key)",
        "date": "\(Self.date(place.day, separator: "-"))",
        "recordCount": \(count),
        "lastModified": "\(Self.date(.now))"
      }
      """
    try await store.put(Array(text.utf8), at: name, contentType: "application/json", if: .always)
  }

  /// `2024-06-15T10:30:00.000Z`.
  private static func date(_ instant: Timestamp) -> String {
    var bytes: [UInt8] = []
    instant.appendMilliseconds(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
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

extension DayFiles {
  /// Settings of every kind that keeps day files.
  static let fields = [
    SettingField("prefix", .text, "A path before all names, such as health/ada.", default: ""),
    SettingField(
      "format", .choice(DayFileFormat.allCases.map(\.rawValue)),
      "What the files are written in: ndjson and json keep everything, csv has no sleep stages, workouts or deletions.",
      default: DayFileFormat.ndjson.rawValue),
    SettingField(
      "compat", .boolean,
      "Write the numbers that HealthPush writes, of which those of six types are wrong: kilometres that are called metres.",
      default: "false"),
    SettingField(
      "whole-samples", .boolean,
      "Keep all that is known of a sample in one more member of its record, so that it can be read back.",
      default: "true"),
  ]
}

extension DayFiles.Options {
  /// - Throws: ``SettingsError`` of a prefix that HealthPush does not take.
  init(_ settings: DestinationSettings) throws(SettingsError) {
    self.init()
    let prefix = try settings.text("prefix").trimmingCharacters(in: CharacterSet(charactersIn: "/ "))
    let parts = prefix.components(separatedBy: "/")
    guard prefix.utf8.count <= 256,
      prefix.isEmpty || !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }),
      prefix.utf8.allSatisfy({ byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_./".utf8.contains(byte)
      })
    else {
      throw SettingsError(
        "prefix", .invalid("must be of letters, digits, -, _, . and / between them, and at most 256 of them"))
    }
    self.prefix = prefix.isEmpty ? "" : prefix + "/"
    format = DayFileFormat(rawValue: try settings.text("format")) ?? .ndjson
    isCompatible = settings.boolean("compat")
    hasWholeSamples = settings.boolean("whole-samples")
  }
}
