import AgeEncryption
import BackupArchive
import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust
import SQLiteFiles

/// The destination of a backup.
public enum BackupDestination: Sendable {
  /// A file with mode 0600, which appears when it is complete.
  ///
  /// - Parameter replaces: whether an existing file may be replaced.
  case file(path: String, replaces: Bool)
  /// A stream of bytes, such as standard output.
  case stream(any ExportSink)
}

/// The outcome of a backup.
public struct BackupSummary: Sendable {
  public var manifest: BackupManifest
  /// The size of the backup, in bytes.
  public var bytes: Int
}

/// The reasons why no backup was made. Nothing of it is left.
public enum BackupRefusal: Error, Hashable, Sendable {
  /// Another backup is in progress.
  case busy
  /// The disk lacks room for the temporary copies of the databases.
  case noRoom(folder: String, needed: Int64, free: Int64)
  /// The disk lacks room for the backup itself.
  case diskFull(path: String)
}

/// An operation that backs up a home while it is in use: everything, encrypted, or the record only.
///
/// ```swift
/// import AgeEncryption
///
/// func backUp(_ home: Home, to path: String, for recipient: AgeRecipient) async throws {
///   let operation = BackupOperation(home, for: [recipient], program: "1.0")
///   let summary = try await operation.run(to: .file(path: path, replaces: false))
///   print(summary.manifest.record.samples, "samples in", summary.bytes, "bytes")
/// }
/// ```
///
/// Identity, tokens and secrets are in encrypted backups only. Statistics are in none, because they are derived.
public struct BackupOperation: Sendable {
  /// The disk space to leave free for other writes, in bytes.
  private static let reserve: Int64 = 64 << 20

  private let home: Home
  private let recipients: [AgeRecipient]
  private let program: String
  private let spareFolder: String?
  private let progress: any ProgressObserver

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - recipients: the keys that can open the backup; if empty, it has the record only and is not encrypted.
  ///   - program: the version of this program.
  ///   - spareFolder: a folder for the temporary copies if the home's disk lacks room for them.
  public init(
    _ home: Home, for recipients: [AgeRecipient], program: String, spareFolder: String? = nil,
    progress: any ProgressObserver = NoProgress()
  ) {
    self.home = home
    self.recipients = recipients
    self.program = program
    self.spareFolder = spareFolder
    self.progress = progress
  }

  private var contents: BackupManifest.Contents { recipients.isEmpty ? .record : .everything }

  /// Makes the backup. Throws ``BackupRefusal``, ``ExportError`` for the file, `StoreError`, `AgeError`, or the
  /// stream's errors.
  public func run(to destination: BackupDestination) async throws -> BackupSummary {
    let store = try await home.openStoreForCopying()
    try await store.digests.keep()
    switch destination {
    case .stream(let sink): return try await run(store, to: sink, named: "-")
    case .file(let path, let replaces):
      let file = try OutputFile(path: path, replaces: replaces)
      do {
        return try await run(store, to: file, named: URL(fileURLWithPath: path).lastPathComponent)
      } catch ExportError.diskFull(let path) {
        throw BackupRefusal.diskFull(path: path)
      }
    }
  }

  private func run(_ store: HealthStore, to sink: any ExportSink, named name: String) async throws -> BackupSummary {
    guard let lock = try FileLock(ifFree: "\(home.directory)/backup.lock", .alone) else { throw BackupRefusal.busy }
    defer { withExtendedLifetime(lock) {} }
    let stage = try await onThread { _ in try stageFolder(of: store) }
    do {
      // Recorded first, so that no record is read without an audit event.
      if !store.isReadOnly {
        try await store.audit.record(AuditEvent(.backedUp, ["file": name, "contents": contents.rawValue]))
      }
      let sources = try await onThread { _ in try copies(of: store, in: stage) }
      let copy = try await onThread { _ in try HealthStore(readOnlyIn: stage) }
      let record = BackupManifest.Record(try await copy.digests.current().record)
      let summary = try await onThread { isCancelled in try write(sources, record, to: sink, isCancelled) }
      await onThread { _ in Self.discard(stage) }
      return summary
    } catch {
      await onThread { _ in
        Self.discard(stage)
        sink.discard()
      }
      throw Task.isCancelled ? CancellationError() : error
    }
  }

  private static func discard(_ stage: String) { try? FileManager.default.removeItem(atPath: stage) }

  /// Copies the files of the backup in their present state.
  private func copies(of store: HealthStore, in stage: String) throws -> [BackupWriter.Source] {
    try PrivateFile.makeDirectory(stage)
    var sources: [BackupWriter.Source] = []
    func add(_ name: String, _ copy: (String) throws -> Void) throws {
      let path = "\(stage)/\(name)"
      let folder = (path as NSString).deletingLastPathComponent
      if folder != stage { try PrivateFile.makeDirectory(folder) }
      try copy(path)
      sources.append(BackupWriter.Source(name: name, path: path))
    }
    if contents == .everything {
      // The registry is copied before the record: its state of a machine must not be newer than the samples.
      if PrivateFile.exists("\(home.directory)/\(PeerRegistry.fileName)") {
        try add(PeerRegistry.fileName) { try PeerRegistry.copyBlocking(in: home.url, to: $0) }
      }
      for file in BackupLayout(home: home).files() {
        try add(file.name) { path in try FileManager.default.copyItem(atPath: file.path, toPath: path) }
      }
    }
    try add(HealthStore.fileName) { try store.copyBlocking(to: $0, withoutKey: contents == .record) }
    return sources
  }

  /// Returns the folder for the temporary copies: beside the databases if there is enough disk space, or the spare
  /// folder.
  private func stageFolder(of store: HealthStore) throws -> String {
    let own = "\(home.directory)/.backup"
    let spare = spareFolder.map { "\($0)/.hpeer-backup-\(store.id.uuidString)" }
    // A killed backup leaves its copies behind.
    for folder in [own, spare] { folder.map(Self.discard) }
    let sizes = [HealthStore.fileName, PeerRegistry.fileName].flatMap {
      SQLiteFile.names(of: "\(home.directory)/\($0)")
    }
    .compactMap { try? FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int64 }
    let needed = sizes.reduce(Self.reserve, +)
    guard let space = DiskSpace(path: home.directory), space.freeBytes < UInt64(needed) else { return own }
    if let spareFolder, let spare, let space = DiskSpace(path: spareFolder), space.freeBytes >= UInt64(needed) {
      return spare
    }
    throw BackupRefusal.noRoom(folder: home.directory, needed: needed, free: Int64(clamping: space.freeBytes))
  }

  private func write(
    _ sources: [BackupWriter.Source], _ record: BackupManifest.Record, to sink: any ExportSink,
    _ isCancelled: () -> Bool
  ) throws -> BackupSummary {
    let writer = BackupWriter(sources, for: recipients)
    let size = sources.reduce(0) { sum, source in
      sum + ((try? FileManager.default.attributesOfItem(atPath: source.path)[.size] as? Int) ?? 0)
    }
    // Each file is read twice, because the manifest at the beginning has the checksums.
    let stage = progress.begin(ProgressStage(.backingUp, totalBytes: size * 2))
    defer { stage.finish() }
    func read(_ count: Int) throws {
      if isCancelled() { throw CancellationError() }
      stage.advance(items: 0, bytes: count)
    }
    let isPrivate = contents == .everything
    let manifest = BackupManifest(
      created: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)), program: program,
      contents: contents, host: isPrivate ? Hostname.short : nil,
      configuration: isPrivate ? home.configuration : nil, record: record, files: try writer.files(read))
    var bytes = 0
    try writer.run(manifest, read) { piece in
      bytes += piece.count
      try sink.write(piece)
    }
    try sink.finish()
    return BackupSummary(manifest: manifest, bytes: bytes)
  }
}

extension BackupManifest.Record {
  /// Creates the counts and digests as `hpeer digest` computes them.
  public init(_ digest: RecordDigest) {
    let (samples, tombstones) = (digest.samples, digest.tombstones)
    self.init(
      samples: samples.count, digest: samples.hex, deleted: tombstones.count,
      deletedDigest: tombstones.hex)
  }
}
