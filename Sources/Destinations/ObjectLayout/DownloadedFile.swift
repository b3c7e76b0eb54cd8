import Foundation
import HealthModel
import OperatingSystem

/// A file by type and day that was fetched.
enum DownloadedFile {
  /// Writes it into a folder of this user's own, under a name that leads nowhere else (`HealthPushFolder.key(of:)`).
  static func write(_ bytes: [UInt8], _ name: String, modified: Timestamp?, into folder: String) async throws {
    try await onThread { _ in
      let file = URL(filePath: folder).appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data(bytes).write(to: file)
      var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
      attributes[.modificationDate] = modified.map { Date(timeIntervalSince1970: Double($0.seconds)) }
      try FileManager.default.setAttributes(attributes, ofItemAtPath: file.path)
    }
  }
}
