import AgeEncryption
import BackupArchive
import Destinations
import Foundation
import HealthStore
import OperatingSystem
import PeerTrust
import SQLiteFiles

/// What was restored.
public struct RestorationResult: Sendable {
  public var manifest: BackupManifest
  /// Whether this machine is now the one that the backup was made on.
  public var keepsIdentity: Bool
  /// Where what was here before is now; none where nothing was.
  public var keptIn: [String]
  /// Who must be asked before paired machines are answered; `nil` where nobody is paired.
  public var restoration: Restoration?
  /// The destinations that are given the whole record again, by name.
  public var redelivered: [String]
}

/// Why nothing was restored; what is here is as it was.
public enum RestorationRefusal: Error, Hashable, Sendable {
  /// Something of what the backup holds is here already, at this path.
  case occupied(path: String)
  /// What the backup holds has no room.
  case noRoom(folder: String, needed: Int64, free: Int64)
  /// The record in the backup is not as hpeer writes it.
  case unsound(String)
  /// Somebody was asked about what the backup brings, and said no.
  case declined
}

/// Puts what a backup holds into a home. All of it is unpacked beside and found to be sound before anything takes its place;
/// what is there is never lost.
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
/// Where machines are paired, none of them is answered until those that this one pulls from have said what was deleted since
/// (``Restoration``).
public struct BackupRestoration: Sendable {
  private let path: String
  private let keys: [AgeKey]
  private let home: Home
  private let keepsIdentity: Bool
  private let replaces: Bool
  private let progress: any ProgressObserver
  private let review: Review

  /// Says whether what a backup brings beside the record shall be here.
  public typealias Review = @Sendable (RestoredPowers) async throws -> Bool

  /// - Parameters:
  ///   - keys: none for a backup that is not encrypted.
  ///   - keepsIdentity: without it, only the record is taken: of two machines that both go on, each has its own identity,
  ///     pairings, settings and secrets.
  ///   - replaces: whether what is here is moved aside.
  ///   - review: asked before anything takes its place, if the backup brings more than the record.
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

  /// Throws ``RestorationRefusal``, `BackupError`, `AgeError`, `SystemError`, `StoreError`.
  ///
  /// - Parameter lock: says that nobody serves this home.
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
            // What an earlier attempt had moved into its place is in the backup, too.
            guard !replaces, !isResumed else { return }
            let wanted = manifest.files.map(\.name).filter(isWanted)
            if let path = layout.inUse(by: wanted, isUnpaired: isUnpaired).first {
              throw RestorationRefusal.occupied(path: path)
            }
          })
      }
      try await backup.requireSound(isAlone: !keepsIdentity)
      if keepsIdentity, backup.manifest.contents == .everything {
        guard try await review(try await RestoredPowers(in: backup.folder)) else { throw RestorationRefusal.declined }
      }
    } catch {
      await onThread { _ in try? FileManager.default.removeItem(atPath: stage) }
      throw Task.isCancelled ? CancellationError() : error
    }
    return try await uncancelled {
      let keptIn = try await onThread { _ in try put(backup, layout) }
      // What is there now may be opened again.
      replacement.release()
      return try await finish(backup.manifest, keptIn)
    }
  }

  private func isWanted(_ name: String) -> Bool { keepsIdentity || name == HealthStore.fileName }

  /// Moves what is here aside, then what was unpacked into its place, the record last: until that is there, the same command
  /// begins again.
  private func put(_ backup: UnpackedBackup, _ layout: BackupLayout) throws -> [String] {
    try PrivateFile.create("\(stage)/moving", [])
    let names = backup.manifest.files.map(\.name).filter(isWanted)
    let store = HealthStore.fileName
    var kept: Set<String> = []
    // What is made of a record goes with it.
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

  /// The name of a folder for what was here before, which is in none of `folders`.
  private static func unusedName(in folders: Set<String>) -> String {
    let name = "before-restore-" + Date().formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
    var number = 1
    func numbered() -> String { number == 1 ? name : "\(name)-\(number)" }
    while folders.contains(where: { PrivateFile.exists("\($0)/\(numbered())") }) { number += 1 }
    return numbered()
  }

  /// The folders may be on two file systems.
  private static func move(_ path: String, to place: String) throws {
    if rename(path, place) == 0 { return }
    guard errno == EXDEV else { throw SystemError("rename", place) }
    try FileManager.default.copyItem(atPath: path, toPath: place)
    unlink(path)
  }

  /// Settings name the files of secrets, which were in another folder.
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

  /// Has each destination given the whole record again: what it was given after the backup was made is no part of the record any
  /// more, and positions that came out of the backup do not know of it.
  private func redeliver(from store: HealthStore) async throws -> [String] {
    let known = Set(try await store.consumers().map(\.name).filter(Self.isOfDestination))
    let settings = try? await onThread { [home] _ in try home.settings() }
    let sections = settings?.destinations.filter { $0.common.isEnabled || known.contains($0.consumer) } ?? []
    // Also those without a section: it may come back.
    for consumer in known.union(sections.map(\.consumer)).sorted() {
      try await Resynchronization.request(consumer, from: nil, in: store)
    }
    return sections.map(\.name).sorted()
  }

  private static func isOfDestination(_ consumer: String) -> Bool {
    let words = consumer.split(separator: ":")
    return words.count == 2 && DestinationKinds.named(String(words[0])) != nil
  }
}
