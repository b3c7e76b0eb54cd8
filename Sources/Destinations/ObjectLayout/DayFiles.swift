import Cryptography
import Foundation
import HealthAnalysis
import HealthModel

/// The files of HealthPush's bucket layout v1: a file of records for each type and day, and a manifest beside it.
///
///     [PREFIX/]v1/METRIC_KEY/YYYY/MM/DD/data.jsonl     or data.json, data.csv
///     [PREFIX/]v1/METRIC_KEY/YYYY/MM/DD/_manifest.json
///
/// The day is the one on which the sample starts in the person's home time zone. Delivered records are merged into
/// the file by UUID, so that a repeated delivery changes nothing and writes nothing. A file is written only if it
/// hasn't changed since it was read, and is otherwise merged again, so that concurrent writers lose nothing of each
/// other.
///
/// A file with unreadable content is first copied whole to `data.jsonl.HASH.bad` beside it. The readable records are
/// then kept.
struct DayFiles: Sendable {
  /// The choices that a person has for the files.
  struct Options: Hashable, Sendable {
    /// The path before all names; empty, or with a `/` at its end.
    var prefix = ""
    var format = DayFileFormat.ndjson
    /// Whether six types have the numbers that HealthPush writes, such as kilometres that are labelled metres.
    var isCompatible = false
    /// Whether records contain the whole sample beside HealthPush's members, if the format can represent it.
    var hasWholeSamples = true
  }

  /// The type and day of a file.
  struct Place: Hashable, Sendable, Comparable {
    var key: String
    /// The day as the number of days since 1970-01-01.
    var day: Int

    static func < (lhs: Self, rhs: Self) -> Bool { (lhs.key, lhs.day) < (rhs.key, rhs.day) }
  }

  /// The maximum size of an object in bytes. A day of ECGs, routes and readings every second has some ten million.
  static let largestObject = 256 << 20

  /// Returns the refusal of samples whose file is larger than ``largestObject``. All other samples are delivered.
  static func tooLarge(_ name: String) -> DeliveryError {
    .refused(reason: "\(name) is larger than any file that is read")
  }

  /// The size in bytes above which a file is merged alone, so that no two such files are in memory at once.
  private static let largeObject = 16 << 20

  /// The number of attempts to merge a file that others write at the same time.
  private static let attempts = 10

  private let store: any ObjectStore
  private let options: Options
  private let zone: ZoneRules
  private let latest = WrittenFile()

  /// Creates the files without reading anything.
  ///
  /// - Parameter zone: the time zone that determines the days.
  init(in store: any ObjectStore, _ options: Options, zone: ZoneRules) {
    (self.store, self.options, self.zone) = (store, options, zone)
  }

  // MARK: Delivering

  /// Merges a batch into the files of its days: deletions first, then additions, which take precedence.
  ///
  /// - Returns: the samples of files that the place refuses permanently, such as files that are too large.
  /// - Throws: ``DeliveryError``, `DecodingError` if the store is damaged. Some of the files may have been written.
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
    // Includes unchanged files: their writer may have been killed before it synchronized them.
    try await store.synchronize(all.map { dataName(of: $0.place) })
    return refused
  }

  /// Returns the changes of a batch by file, sorted, so that equal writers don't conflict in file after file.
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
    /// The file was not merged, because it is too large to be merged beside others.
    case large
    case refused(String)
  }

  /// Merges the changes of one file, and retries if others write it at the same time.
  ///
  /// - Parameter isAlone: whether no other file is merged at the same time.
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

  /// Merges records into a file that was read.
  ///
  /// - Returns: `false` if the file has been written by others in the meantime.
  private func merge(
    _ records: RecordChanges, into object: StoredObject?, _ place: Place, endsBatch: Bool
  ) async throws -> Bool {
    guard let object else { return try await makeFile(of: records, place, endsBatch: endsBatch) }
    let name = dataName(of: place)
    var (file, isWhole) = read(object.bytes, name)
    guard records.apply(to: &file) else {
      // A crash between the file and its manifest may have left an old manifest.
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

  /// Creates a file from records.
  ///
  /// - Returns: `false` if the file has been created by others in the meantime.
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

  /// Writes a file.
  ///
  /// - Returns: whether the condition was met.
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

  /// Copies an unreadable file to a name derived from its bytes, so that the same content is kept only once.
  private func keepAside(_ bytes: [UInt8], _ name: String) async throws {
    let hash = RadixCoding.hex.encode(SHA256.hash(data: bytes).prefix(6))
    do {
      try await store.put(bytes, at: "\(name).\(hash).bad", contentType: "application/octet-stream", if: .absent)
    } catch is ObjectConflict {
      // The copy exists already.
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

  /// Returns an instant as `2024-06-15T10:30:00.000Z`.
  private static func date(_ instant: Timestamp) -> String {
    var bytes: [UInt8] = []
    instant.appendMilliseconds(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Names

  /// Returns the folder that contains all files, without a slash at its end.
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

  // MARK: Checking

  /// Checks whether the place accepts deliveries.
  ///
  /// - Parameter needsConditions: see ``ObjectStoreProbe``.
  func check(needsConditions: Bool) async throws {
    try await ObjectStoreProbe.run(store, prefix: options.prefix, needsConditions: needsConditions)
  }
}

extension DayFiles {
  /// The settings of every kind that writes day files.
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
  /// Creates options from settings.
  ///
  /// - Throws: ``SettingsError`` if HealthPush doesn't accept the prefix.
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
