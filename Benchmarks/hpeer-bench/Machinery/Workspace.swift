import Foundation

/// Where homes and stores are while they are measured.
struct Workspace: Sendable {
  let path: String
  /// The same in memory (tmpfs); `nil` where there is none.
  let memory: String?
  private let isKept: Bool

  /// - Parameter keep: a directory to use and to leave; else one in `HPEER_BENCH_DIR` or `TMPDIR` that disappears.
  init(keep: String?) throws {
    isKept = keep != nil
    let environment = ProcessInfo.processInfo.environment
    let parent = environment["HPEER_BENCH_DIR"] ?? environment["TMPDIR"] ?? "/tmp"
    let path = keep.map { URL(fileURLWithPath: $0).path } ?? "\(parent)/hpeer-bench-\(getpid())"
    self.path = path
    memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm/hpeer-bench-\(getpid())" : nil
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try? FileManager.default.removeItem(atPath: scratch)
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
  }

  /// What no later run has a use for.
  private var scratch: String { "\(path)/scratch" }

  /// A path that nothing else has.
  func fresh(_ name: String) -> String { "\(scratch)/\(name)-\(UUID().uuidString.prefix(8))" }

  /// Such a path in memory.
  func freshInMemory(_ name: String) throws -> String? {
    guard let memory else { return nil }
    try FileManager.default.createDirectory(
      atPath: memory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return "\(memory)/\(name)-\(UUID().uuidString.prefix(8))"
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  func clean() {
    remove(isKept ? scratch : path)
    if let memory { remove(memory) }
  }

  /// What was written before is on the disk afterwards, so that no measurement pays for another's.
  func settle() { sync() }
}
