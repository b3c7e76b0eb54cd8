import Foundation
import Glibc
import HealthModel
import OperatingSystem

/// A day file that is downloaded into a folder of this user.
struct DownloadedFile {
  /// The path of the file. Only its folders exist before the download.
  let path: String

  /// Creates the folders of a file.
  ///
  /// - Parameter name: a checked name that stays inside `folder` (`HealthPushFolder.key(of:)`).
  init(_ name: String, in folder: String) async throws {
    let file = URL(filePath: folder).appending(path: name)
    path = file.path
    try await onThread { _ in
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
  }

  /// Sets the modification time that the file has at its origin.
  func fetched(modified: Timestamp?) async throws {
    guard let modified else { return }
    try await onThread { [path] _ in
      let date = Date(timeIntervalSince1970: Double(modified.seconds))
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }
  }

  /// A file that is being written, with mode 0600. Blocking.
  final class Output: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens the file, and empties it if it exists.
    init(_ path: String) throws(SystemError) {
      self.path = path
      descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw SystemError("write", path, code: errno) }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(SystemError) {
      let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
      guard code == 0 else { throw SystemError("write", path, code: code) }
    }
  }
}
