import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// The options of an import.
public struct ImportOptions: Hashable, Sendable {
  /// Reads an Apple Health export again even if identical bytes were imported before.
  public var rescans = false
  /// Deletes samples that earlier Apple Health exports had and this one lacks.
  public var isSnapshot = false
  /// Deletes the missing samples regardless of their number and of the person of the earlier exports.
  public var force = false
  /// Imports another person's data without asking.
  public var mergesPersons = false
  /// Imports into a temporary copy of the store.
  public var isDryRun = false
  /// The creation time of a Health Auto Export file: newer values replace older ones. `nil` for the newest date in
  /// it.
  public var asOf: Timestamp?
  /// Whether values in other programs' files by type and day come from HealthPush, which gets six units wrong.
  public var repairsUnits = false
  /// The time zone of times without one. `nil` for the zone that the file names, or else the home zone.
  public var zone: TimeZone?

  /// Creates options that delete nothing and require confirmation for another person's data.
  public init() {}
}

/// An operation that imports a file into a store: one or several Apple Health exports, or any other ``RecordFormat``.
///
/// ```swift
/// func importFile(at path: String, into store: HealthStore) async throws {
///   let source = try await ImportFile.recognised(at: path)
///   let operation = try ImportOperation(source, named: "export.zip")
///   let result = try await operation.run(into: store)
///   print(result.summary.added, "samples are new")
/// }
/// ```
///
/// An import adds new samples only, so a file may be imported repeatedly. Each batch is one transaction: if an import
/// is cancelled or killed, its batches stay, and importing the file again adds the rest. The audit log records the
/// beginning and, with the counts, the end. Dry runs are not recorded.
public struct ImportOperation: Sendable {
  /// A function that asks whether the file belongs to the store's person despite a contradiction.
  public typealias PersonConfirmation = @Sendable (PersonContradiction) async throws -> Bool

  /// The recognized file. Its samples are read by ``run(into:)``.
  public let source: ImportFile
  /// The file name for messages and the audit log: the last path component.
  public let name: String
  /// The options. If ``ImportOptions/isSnapshot`` is set, ``source`` is an Apple Health export.
  public let options: ImportOptions
  private let progress: any ProgressObserver
  private let confirm: PersonConfirmation?

  /// Creates the operation. Throws ``ImportRefusal/noSnapshot(file:)`` for a snapshot of another format.
  ///
  /// - Parameter confirm: `nil` if there is no person to ask; then another person's data is refused.
  public init(
    _ source: ImportFile, named name: String, options: ImportOptions = ImportOptions(),
    progress: any ProgressObserver = NoProgress(), confirm: PersonConfirmation? = nil
  ) throws(ImportRefusal) {
    if options.isSnapshot {
      guard case .appleHealth = source else { throw .noSnapshot(file: name) }
    }
    self.source = source
    self.name = name
    self.options = options
    self.progress = progress
    self.confirm = confirm
  }

  /// Imports the file. Throws ``ImportRefusal`` before anything is changed, or ``ImportError``, ``SampleFileError``
  /// or ``StoreError``. A truncated file is not an error but noted in ``ImportResult/report``.
  public func run(into store: HealthStore) async throws -> ImportResult {
    if options.isDryRun {
      let dryRun = try await onThread { _ in try DryRun(of: store) }
      defer { dryRun.remove() }
      return try await read(into: dryRun.store)
    }
    try await store.requireRoom()
    // Recorded first, so that an interrupted import is in the log, too.
    try await store.audit.record(AuditEvent(.importStarted, ["file": name]))
    let result = try await read(into: store)
    try await uncancelled { try await store.audit.record(AuditEvent(.imported, detail(of: result))) }
    return result
  }

  /// The largest number of types in one import. Each type permanently has rows in many tables.
  private static let mostTypes = 10_000

  /// Throws ``ImportError/tooManyTypes(limit:)`` if a file has more types than any real record.
  static func requireFewTypes(_ count: Int) throws(ImportError) {
    guard count <= mostTypes else { throw .tooManyTypes(limit: mostTypes) }
  }

  private func detail(of result: ImportResult) -> [String: String] {
    var detail = [
      "file": name, "added": String(result.summary.added), "unchanged": String(result.summary.unchanged),
      "deleted": String(result.summary.deleted), "complete": String(result.report.isComplete || result.earlier != nil),
    ]
    if let snapshot = result.snapshot { detail["snapshot"] = snapshot.name }
    if result.mergedPersons { detail["person"] = "merged" }
    if result.summary.refused > 0 { detail["refused"] = String(result.summary.refused) }
    return detail
  }

  private func read(into store: HealthStore) async throws -> ImportResult {
    let lock = try await onThread { isCancelled in try store.imports.hold(unless: isCancelled) }
    defer { withExtendedLifetime(lock) {} }
    let policy = ImportPolicy(store: store, options: options, confirm: confirm)
    return switch source {
    case .appleHealth(let exports):
      try await AppleExportSeries(exports: exports, name: name, store: store, policy: policy, progress: progress).run()
    case .samples(let file):
      try await SampleFileImport(
        file: file, reading: try await options.reading(in: store), name: name, store: store, policy: policy,
        progress: progress
      ).run()
    }
  }
}

extension ImportOptions {
  /// Returns the options for the reader of the file.
  fileprivate func reading(in store: HealthStore) async throws -> ReadingOptions {
    var reading = try await ReadingOptions(in: store)
    (reading.asOf, reading.repairsUnits, reading.zone) = (asOf, repairsUnits, zone)
    return reading
  }
}

extension ReadingOptions {
  /// Creates default options with the home zone of a store.
  init(in store: HealthStore) async throws {
    self.init()
    let chosen = try await store.settings.current().homeZone
    homeZone = chosen.flatMap(TimeZone.init(identifier:)) ?? .current
  }
}

extension ImportFile {
  /// Recognizes the format of a file; see ``recognise(_:original:)``, which blocks.
  public static func recognised(at path: String, original: String? = nil) async throws -> ImportFile {
    try await onThread { _ in try recognise(path, original: original) }
  }
}
