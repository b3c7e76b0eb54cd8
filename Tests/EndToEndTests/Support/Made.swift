import Foundation

/// Files and homes that many tests begin with. Each is made once for all processes of a test run, by whichever needs it
/// first: `scripts/test` gives them a directory in `HPEER_TEST_MADE`; without it they are this process's own.
enum Made {
  private static let own = Result { try Scratch() }

  private static func directory() throws -> String {
    try ProcessInfo.processInfo.environment["HPEER_TEST_MADE"] ?? own.get().path
  }

  /// The path of what `make` has made, a file or a directory, at the path that it is given. Nobody may change it.
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
