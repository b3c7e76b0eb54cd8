import Foundation

/// A cache of files and homes that many tests start with. Each is created once per test run, by the first process
/// that needs it: `scripts/test` shares a directory through `HPEER_TEST_MADE`; without that variable each process has
/// its own.
enum Made {
  private static let own = Result { try Scratch() }

  private static func directory() throws -> String {
    try ProcessInfo.processInfo.environment["HPEER_TEST_MADE"] ?? own.get().path
  }

  /// Returns the path of the file or directory that `make` created. Tests must not modify it.
  static func once(_ name: String, _ make: (String) async throws -> Void) async throws -> String {
    let path = try directory() + "/" + name
    if FileManager.default.fileExists(atPath: path) { return path }
    // The lock is given back with its descriptor, also when a process is killed that has it.
    let lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    defer { close(lock) }
    try await eventually("\(name) is made", within: .seconds(300)) { flock(lock, LOCK_EX | LOCK_NB) == 0 ? true : nil }
    if FileManager.default.fileExists(atPath: path) { return path }
    // Under its own name, which may say what kind of file it is.
    let unfinished = try directory() + "/unfinished/" + name
    try FileManager.default.createDirectory(
      atPath: try directory() + "/unfinished", withIntermediateDirectories: true)
    try? FileManager.default.removeItem(atPath: unfinished)
    try await make(unfinished)
    try FileManager.default.moveItem(atPath: unfinished, toPath: path)
    return path
  }
}
