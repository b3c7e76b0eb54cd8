import Foundation

/// A home that is gone after the test.
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

  /// Databases are closed when their last user is gone, in their own time.
  func untilAtRest() async throws {
    while try FileManager.default.contentsOfDirectory(atPath: path).contains(where: { $0.hasSuffix("-wal") }) {
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// Every file's path, size, mode, and moment of the last change, to see whether anything was touched.
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
