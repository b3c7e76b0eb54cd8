import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// How a file is imported.
public struct ImportOptions: Hashable, Sendable {
  /// Reads an Apple Health export again whose very bytes were imported before.
  public var rescans = false
  /// Deletes what earlier Apple Health exports had and this one lacks.
  public var isSnapshot = false
  /// Deletes however much that is, and whosever the earlier exports were.
  public var force = false
  /// Takes in what is another person's without asking.
  public var mergesPersons = false
  /// Does everything in a copy of the store, which is gone afterwards.
  public var isDryRun = false
  /// When a file of Health Auto Export was made: newer numbers replace older ones. `nil` for the newest date in it.
  public var asOf: Timestamp?
  /// Whether numbers in files by type and day that hpeer did not write are HealthPush's, six of whose units are wrong.
  public var repairsUnits = false
  /// The zone of times that come without one. `nil` for what the file says, and where it says nothing for the home zone.
  public var zone: TimeZone?

  /// Deletes nothing, and takes in what is another person's only after a yes.
  public init() {}
}

/// Takes a file of samples into a store: one Apple Health export or several, or any other ``RecordFormat``.
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
/// Only what is new is added, so a file may be imported again and again. A transaction holds a batch: cancelled, or
/// killed, it keeps what was read, and the same again adds the rest. The audit log has that it began and, with the
/// counts, that it ended; of a dry run it has nothing.
public struct ImportOperation: Sendable {
  /// Says whether what contradicts the store's person is of the same person all the same.
  public typealias PersonConfirmation = @Sendable (PersonContradiction) async throws -> Bool

  /// What the file was recognised as; its samples are read by ``run(into:)``.
  public let source: ImportFile
  /// What the file is called, for people and the audit log: its last path component.
  public let name: String
  /// Where ``ImportOptions/isSnapshot`` is set, ``source`` is an Apple Health export.
  public let options: ImportOptions
  private let progress: any ProgressObserver
  private let confirm: PersonConfirmation?

  /// Throws ``ImportRefusal/noSnapshot(file:)`` for a snapshot that is no Apple Health export.
  ///
  /// - Parameter confirm: `nil` where there is nobody to ask: another person's is refused then.
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

  /// Throws ``ImportRefusal`` before anything is changed, or ``ImportError``, ``SampleFileError`` or ``StoreError``. A file
  /// that ends in the middle is no error: ``ImportResult/report`` says so.
  public func run(into store: HealthStore) async throws -> ImportResult {
    if options.isDryRun {
      let dryRun = try await onThread { _ in try DryRun(of: store) }
      defer { dryRun.remove() }
      return try await read(into: dryRun.store)
    }
    try await store.requireRoom()
    // First, so that an import that is cut off anywhere is in the log.
    try await store.audit.record(AuditEvent(.importStarted, ["file": name]))
    let result = try await read(into: store)
    try await uncancelled { try await store.audit.record(AuditEvent(.imported, detail(of: result))) }
    return result
  }

  /// A type has rows of its own in many tables, for good.
  private static let mostTypes = 10_000

  /// Throws ``ImportError/tooManyTypes(limit:)`` where a file has samples of more types than any record.
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
  /// What is said to the reader of a file.
  fileprivate func reading(in store: HealthStore) async throws -> ReadingOptions {
    var reading = try await ReadingOptions(in: store)
    (reading.asOf, reading.repairsUnits, reading.zone) = (asOf, repairsUnits, zone)
    return reading
  }
}

extension ReadingOptions {
  /// Of a file about which nothing is known but whose record it goes to.
  init(in store: HealthStore) async throws {
    self.init()
    let chosen = try await store.settings.current().homeZone
    homeZone = chosen.flatMap(TimeZone.init(identifier:)) ?? .current
  }
}

extension ImportFile {
  /// As ``recognise(_:original:)``, which blocks.
  public static func recognised(at path: String, original: String? = nil) async throws -> ImportFile {
    try await onThread { _ in try recognise(path, original: original) }
  }
}
