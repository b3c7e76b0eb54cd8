import AgeEncryption
import BackupArchive
import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// A backup whose files were unpacked into a folder and match their checksums.
struct UnpackedBackup: Sendable {
  let manifest: BackupManifest
  /// The folder, with the file names of the backup.
  let folder: String

  /// Unpacks a backup into `folder`, which is created. Blocking. Throws `BackupError`, `AgeError`, `SystemError`,
  /// ``RestorationRefusal``.
  ///
  /// - Parameters:
  ///   - check: called with the manifest before anything is unpacked. An error that it throws ends the initializer.
  ///   - wants: selects the files to unpack; all files are checked.
  init(
    _ path: String, keys: [AgeKey], into folder: String, layout: BackupLayout,
    progress: any ProgressObserver, isCancelled: () -> Bool,
    wants: (BackupManifest.File) -> Bool = { _ in true }, check: (BackupManifest) throws -> Void = { _ in }
  ) throws {
    let reader = try BackupReader(path: path)
    try reader.unlock(keys)
    let manifest = try reader.manifest()
    try BackupLayout.requireAllowed(manifest, reader.protection)
    try check(manifest)
    guard manifest.files.contains(where: { $0.name == HealthStore.fileName }) else {
      throw BackupError.damaged("it holds no record")
    }
    if let name = manifest.files.map(\.name).first(where: { layout.place(of: $0) == nil }) {
      throw BackupError.damaged("there is no place for \(name)")
    }
    try PrivateFile.makeDirectory(folder)
    if let space = DiskSpace(path: folder), space.freeBytes < UInt64(clamping: manifest.bytes) {
      throw RestorationRefusal.noRoom(
        folder: folder, needed: manifest.bytes, free: Int64(clamping: space.freeBytes))
    }
    let stage = progress.begin(ProgressStage(.unpacking, totalBytes: Int(clamping: manifest.bytes)))
    defer { stage.finish() }
    try reader.files(manifest) { file, next in
      let path = "\(folder)/\(file.name)"
      guard wants(file) else { return }
      try PrivateFile.makeDirectory((path as NSString).deletingLastPathComponent)
      let descriptor = try PrivateFile.open(path, O_WRONLY | O_CREAT | O_EXCL)
      defer { close(descriptor) }
      while let piece = try next() {
        if isCancelled() { throw CancellationError() }
        let code = piece.withUnsafeBytes { writeAll($0, to: descriptor) }
        guard code == 0 else { throw SystemError("write", path, code: code) }
        stage.advance(items: 0, bytes: piece.count)
      }
      guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
    }
    (self.manifest, self.folder) = (manifest, folder)
  }

  /// Opens the record, migrates it, and throws unless it is intact and matches the manifest. Throws
  /// ``RestorationRefusal``, `StoreError`.
  ///
  /// - Parameter isAlone: whether the record continues under another identity. Its key for positions is then
  ///   replaced, because anyone who made or read the backup knows it.
  func requireSound(isAlone: Bool = false) async throws {
    let integrity = try await HealthStore.checkIntegrity(directory: folder)
    if let finding = integrity.findings.first { throw RestorationRefusal.unsound("\(finding)") }
    let store = try await onThread { [folder] _ in try HealthStore(directory: folder, create: false) }
    let found = BackupManifest.Record(try await store.digests.current().record)
    guard found == manifest.record else {
      throw RestorationRefusal.unsound("It is not the record that the backup says.")
    }
    if isAlone || manifest.contents == .record { try await store.renewPositionKey() }
  }
}
