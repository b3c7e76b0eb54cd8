import AgeEncryption
import BackupArchive
import Foundation
import OperatingSystem

/// An operation that reads a whole backup, checks every file's checksum, opens the record in it, and compares its
/// digest. It changes nothing.
public struct BackupVerification: Sendable {
  private let path: String
  private let keys: [AgeKey]
  private let progress: any ProgressObserver

  /// Creates the operation.
  ///
  /// - Parameter keys: empty for a backup that is not encrypted.
  public init(_ path: String, keys: [AgeKey], progress: any ProgressObserver = NoProgress()) {
    self.path = path
    self.keys = keys
    self.progress = progress
  }

  /// Returns how a backup is protected. Blocking. Throws `BackupError`, `AgeError`, `SystemError`.
  public static func protection(of path: String) throws -> BackupReader.Protection {
    try BackupReader(path: path).protection
  }

  /// Verifies the backup and returns its manifest. Throws `BackupError`, `AgeError`, `SystemError`,
  /// ``RestorationRefusal``.
  ///
  /// - Parameter directory: contains a temporary copy of the record during verification, and needs room for it.
  public func run(in directory: String) async throws -> BackupManifest {
    let folder = "\(directory)/.hpeer-verify-\(UUID().uuidString)"
    let result: Result<BackupManifest, any Error>
    do {
      let backup = try await onThread { [path, keys, progress] isCancelled in
        try UnpackedBackup(
          path, keys: keys, into: folder, layout: BackupLayout(home: Home(path: folder, environment: [:])),
          progress: progress, isCancelled: isCancelled)
      }
      try await backup.requireSound()
      result = .success(backup.manifest)
    } catch {
      result = .failure(error)
    }
    await onThread { _ in try? FileManager.default.removeItem(atPath: folder) }
    return try result.get()
  }
}
