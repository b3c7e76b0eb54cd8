import Foundation

/// The directories in which homes and stores are placed during measurements.
struct Workspace: Sendable {
  let path: String
  /// A directory in memory (tmpfs), or `nil` if the machine has none.
  let memory: String?
  private let isKept: Bool

  /// - Parameter keep: A directory to use and to keep, or `nil` for a temporary directory in `HPEER_BENCH_DIR` or
  /// `TMPDIR`.
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

  /// The directory for files that no later run needs.
  private var scratch: String { "\(path)/scratch" }

  /// Returns an unused path.
  func fresh(_ name: String) -> String { "\(scratch)/\(name)-\(UUID().uuidString.prefix(8))" }

  /// Returns an unused path in memory, or `nil` if the machine has no tmpfs.
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

  /// Flushes earlier writes to disk, so that they don't slow down the next measurement.
  func settle() { sync() }
}
