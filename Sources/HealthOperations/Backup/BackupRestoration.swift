import AgeEncryption
import BackupArchive
import Destinations
import Foundation
import HealthStore
import OperatingSystem
import PeerTrust
import SQLiteFiles

/// The outcome of a restoration.
public struct RestorationResult: Sendable {
  public var manifest: BackupManifest
  /// Whether this machine has taken over the identity in the backup.
  public var keepsIdentity: Bool
  /// The folders that hold what was replaced; empty if nothing was.
  public var keptIn: [String]
  /// The machines to pull from before clients are served again; `nil` if no machine is paired.
  public var restoration: Restoration?
  /// The names of the destinations that receive the whole record again.
  public var redelivered: [String]
}

/// The reasons why nothing was restored. Existing files are unchanged.
public enum RestorationRefusal: Error, Hashable, Sendable {
  /// A file or folder of the backup already exists at this path.
  case occupied(path: String)
  /// The disk lacks room for the content of the backup.
  case noRoom(folder: String, needed: Int64, free: Int64)
  /// The record in the backup is damaged or differs from the manifest.
  case unsound(String)
  /// A person was asked about the content of the backup and declined.
  case declined
}

/// An operation that restores a backup into a home. Everything is unpacked and verified before anything is replaced,
/// and replaced files are kept.
///
/// ```swift
/// import AgeEncryption
///
/// func restore(_ path: String, with keys: [AgeKey], into home: Home) async throws {
///   let lock = try ServeLock(home)
///   defer { lock.release() }
///   let result = try await BackupRestoration(path, keys: keys, into: home).run(holding: lock)
///   print(result.manifest.record.samples, "samples of", result.manifest.created)
/// }
/// ```
///
/// Paired machines are not served until this machine has pulled later deletions from its servers (``Restoration``).
public struct BackupRestoration: Sendable {
  private let path: String
  private let keys: [AgeKey]
  private let home: Home
  private let keepsIdentity: Bool
  private let replaces: Bool
  private let progress: any ProgressObserver
  private let review: Review

  /// A function that asks whether the content beside the record may be restored.
  public typealias Review = @Sendable (RestoredPermissions) async throws -> Bool

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - keys: empty for a backup that is not encrypted.
  ///   - keepsIdentity: if false, only the record is restored, because two machines that are both in use need
  ///     different identities, pairings, settings and secrets.
  ///   - replaces: whether existing files are moved aside.
  ///   - review: asked before anything is replaced, if the backup has more than the record.
  public init(
    _ path: String, keys: [AgeKey], into home: Home, keepsIdentity: Bool = true, replaces: Bool = false,
    progress: any ProgressObserver = NoProgress(), review: @escaping Review = { _ in true }
  ) {
    self.review = review
    self.path = path
    self.keys = keys
    self.home = home
    self.keepsIdentity = keepsIdentity
    self.replaces = replaces
    self.progress = progress
  }

  private var stage: String { "\(home.directory)/.restoring" }

  /// Restores the backup. Throws ``RestorationRefusal``, `BackupError`, `AgeError`, `SystemError`, `StoreError`.
  ///
  /// - Parameter lock: proves that no process serves this home.
  public func run(holding lock: ServeLock) async throws -> RestorationResult {
    let layout = BackupLayout(home: home)
    let isResumed =
      PrivateFile.exists("\(stage)/moving") && SQLiteFile.isEmpty("\(home.directory)/\(HealthStore.fileName)")
    let backup: UnpackedBackup
    let replacement = try await onThread { [home] _ in try ReplacementLock(of: home.directory) }
    do {
      let isUnpaired = await PeerRegistry.isUnused(in: home.url)
      backup = try await onThread { isCancelled in
        try? FileManager.default.removeItem(atPath: stage)
        return try UnpackedBackup(
          path, keys: keys, into: stage, layout: layout, progress: progress, isCancelled: isCancelled,
          wants: { isWanted($0.name) },
          check: { manifest in
            // Files that an interrupted attempt has moved into place are in the backup, too.
            guard !replaces, !isResumed else { return }
            let wanted = manifest.files.map(\.name).filter(isWanted)
            if let path = layout.inUse(by: wanted, isUnpaired: isUnpaired).first {
              throw RestorationRefusal.occupied(path: path)
            }
          })
      }
      try await backup.requireSound(isAlone: !keepsIdentity)
      if keepsIdentity, backup.manifest.contents == .everything {
        guard try await review(try await RestoredPermissions(in: backup.folder)) else {
          throw RestorationRefusal.declined
        }
      }
    } catch {
      await onThread { _ in try? FileManager.default.removeItem(atPath: stage) }
      throw Task.isCancelled ? CancellationError() : error
    }
    return try await uncancelled {
      let keptIn = try await onThread { _ in try put(backup, layout) }
      // From here on, the store may be opened again.
      replacement.release()
      return try await finish(backup.manifest, keptIn)
    }
  }

  private func isWanted(_ name: String) -> Bool { keepsIdentity || name == HealthStore.fileName }

  /// Moves existing files aside, then the unpacked files into place, the record last. If this is interrupted before
  /// the record is in place, the same command starts again.
  private func put(_ backup: UnpackedBackup, _ layout: BackupLayout) throws -> [String] {
    try PrivateFile.create("\(stage)/moving", [])
    let names = backup.manifest.files.map(\.name).filter(isWanted)
    let store = HealthStore.fileName
    var kept: Set<String> = []
    // Files that were derived from the record are moved aside with it.
    let beside = ["statistics.sqlite", "pairing.json"].map { "\(home.directory)/\($0)" }
    let former = layout.occupied(by: names) + beside
    let aside = Self.unusedName(in: Set(former.map { ($0 as NSString).deletingLastPathComponent }))
    for path in former {
      for path in SQLiteFile.names(of: path) where PrivateFile.exists(path) {
        let folder = "\((path as NSString).deletingLastPathComponent)/\(aside)"
        try PrivateFile.makeDirectory(folder)
        try Self.move(path, to: "\(folder)/\((path as NSString).lastPathComponent)")
        kept.insert(folder)
      }
    }
    for name in names.filter({ $0 != store }) + [store] {
      guard let place = layout.place(of: name) else { continue }
      try PrivateFile.makeDirectory((place as NSString).deletingLastPathComponent)
      for suffix in ["-wal", "-shm", ""] where PrivateFile.exists("\(stage)/\(name)\(suffix)") {
        try Self.move("\(stage)/\(name)\(suffix)", to: place + suffix)
      }
      if name == BackupLayout.settings, let former = backup.manifest.configuration {
        try readdress(place, from: former)
      }
    }
    try PrivateFile.synchronizeParent(of: "\(home.directory)/\(store)")
    try? FileManager.default.removeItem(atPath: stage)
    return kept.sorted()
  }

  /// Returns a name for the folders of replaced files that exists in none of `folders`.
  private static func unusedName(in folders: Set<String>) -> String {
    let name = "before-restore-" + Date().formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
    var number = 1
    func numbered() -> String { number == 1 ? name : "\(name)-\(number)" }
    while folders.contains(where: { PrivateFile.exists("\($0)/\(numbered())") }) { number += 1 }
    return numbered()
  }

  /// Moves a file, also between two file systems.
  private static func move(_ path: String, to place: String) throws {
    if rename(path, place) == 0 { return }
    guard errno == EXDEV else { throw SystemError("rename", place) }
    try FileManager.default.copyItem(atPath: path, toPath: place)
    unlink(path)
  }

  /// Changes the paths of secret files in the settings from the former configuration folder to the present one.
  private func readdress(_ path: String, from former: String) throws {
    guard former != home.configuration else { return }
    let text = String(decoding: try PrivateFile.read(path, limit: 16 << 20).bytes, as: UTF8.self)
    let changed = text.replacing("file:\(former)/secrets/", with: "file:\(home.configuration)/secrets/")
    if changed != text { try PrivateFile.replace(path, Array(changed.utf8)) }
  }

  private func finish(_ manifest: BackupManifest, _ keptIn: [String]) async throws -> RestorationResult {
    let store = try await onThread { [home] _ in try home.openStore() }
    let keeps = keepsIdentity && manifest.contents == .everything
    try await store.audit.record(
      AuditEvent(
        .backupRestored, ["made": manifest.created.formatted(.iso8601), "identity": keeps ? "kept" : "none"]))
    var restoration: Restoration?
    if PrivateFile.exists("\(home.directory)/\(PeerRegistry.fileName)") {
      restoration = try await home.openRegistry().beginRestoration(made: manifest.created)
    }
    return RestorationResult(
      manifest: manifest, keepsIdentity: keeps, keptIn: keptIn, restoration: restoration,
      redelivered: try await redeliver(from: store))
  }

  /// Requests that each destination receives the whole record again. Deliveries after the backup are not part of the
  /// restored record, and the restored positions do not know of them.
  private func redeliver(from store: HealthStore) async throws -> [String] {
    let known = Set(try await store.consumers().map(\.name).filter(Self.isOfDestination))
    let settings = try? await onThread { [home] _ in try home.settings() }
    let sections = settings?.destinations.filter { $0.common.isEnabled || known.contains($0.consumer) } ?? []
    // Destinations without a section are included, because the section may come back.
    for consumer in known.union(sections.map(\.consumer)).sorted() {
      try await RedeliveryRequests.request(consumer, from: nil, in: store)
    }
    return sections.map(\.name).sorted()
  }

  private static func isOfDestination(_ consumer: String) -> Bool {
    let words = consumer.split(separator: ":")
    return words.count == 2 && DestinationKinds.named(String(words[0])) != nil
  }
}
