import AgeEncryption
import BackupArchive
import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust
import SQLiteFiles

/// Where a backup goes.
public enum BackupDestination: Sendable {
  /// A file of mode 0600, which appears when it is whole.
  ///
  /// - Parameter replaces: whether a file that is there may be lost.
  case file(path: String, replaces: Bool)
  /// Bytes as they come, such as standard output.
  case stream(any ExportSink)
}

/// What a backup holds.
public struct BackupSummary: Sendable {
  public var manifest: BackupManifest
  /// Of the backup itself.
  public var bytes: Int
}

/// Why no backup was made. Nothing is left of it.
public enum BackupRefusal: Error, Hashable, Sendable {
  /// Another one is being made.
  case busy
  /// The copies that it is made of have no room beside the record.
  case noRoom(folder: String, needed: Int64, free: Int64)
  /// The backup itself has none.
  case diskFull(path: String)
}

/// Makes a backup of a home while it is in use: of everything, encrypted, or of the record alone.
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
/// Identity, tokens and secrets are in an encrypted backup only. What can be made anew (statistics) is in none.
public struct BackupOperation: Sendable {
  /// Left free for what goes on meanwhile.
  private static let reserve: Int64 = 64 << 20

  private let home: Home
  private let recipients: [AgeRecipient]
  private let program: String
  private let spareFolder: String?
  private let progress: any ProgressObserver

  /// - Parameters:
  ///   - recipients: who can read it; nobody for the record alone, which everybody can read then.
  ///   - program: the version of this program.
  ///   - spareFolder: where the record is copied to for as long as it is read, where the home's disk has no room for that.
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

  /// Throws ``BackupRefusal``, ``ExportError`` for the file, `StoreError`, `AgeError`, or what the stream does.
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
      // First, so that an access which the log cannot hold does not happen.
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

  /// Copies what goes into the backup, as it is now.
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
      // Before the record: what it says of a machine may be older than its samples, and never newer.
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

  /// Where the databases are copied to, for as long as they are read: beside them, where what is left of the disk is enough for
  /// what goes on meanwhile.
  private func stageFolder(of store: HealthStore) throws -> String {
    let own = "\(home.directory)/.backup"
    let spare = spareFolder.map { "\($0)/.hpeer-backup-\(store.id.uuidString)" }
    // What a backup that was killed has left.
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
    // All is read twice: to say in the beginning what follows.
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
  /// As `hpeer digest` adds it up.
  public init(_ digest: RecordDigest) {
    let (samples, tombstones) = (digest.samples, digest.tombstones)
    self.init(
      samples: samples.count, digest: samples.hex, deleted: tombstones.count,
      deletedDigest: tombstones.hex)
  }
}
