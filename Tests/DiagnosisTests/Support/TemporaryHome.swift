import Foundation

/// A home that is removed after the test.
final class TemporaryHome: Sendable {
  let path = NSTemporaryDirectory() + "hpeer-doctor-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

  func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
    try Data(text.utf8).write(to: url.appendingPathComponent(name))
    try setMode(mode, of: name)
  }

  func setMode(_ mode: Int, of name: String = "") throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path + "/" + name)
  }

  /// Waits until all databases are closed, which happens some time after their last use.
  func untilAtRest() async throws {
    while try FileManager.default.contentsOfDirectory(atPath: path).contains(where: { $0.hasSuffix("-wal") }) {
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// Returns each file's path, size, mode and modification time, to detect changes.
  func traces() throws -> [String] {
    let names = [""] + (FileManager.default.subpaths(atPath: path) ?? []).sorted()
    return try names.map { name in
      var status = stat()
      guard lstat(path + "/" + name, &status) == 0 else { throw POSIXError(.ENOENT) }
      // Not the moment of a change of status: for root, SQLite sets the log's owner to what it is.
      return "\(name) \(status.st_size) \(status.st_mode) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }
  }
}
