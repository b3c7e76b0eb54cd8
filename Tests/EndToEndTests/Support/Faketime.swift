import Foundation

/// The program that starts another with a wall clock of its own.
enum Faketime {
  static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/faketime")

  /// What to start a program with, whose clock is off by `offset`, in libfaketime's words: `+10800`.
  ///
  /// faketime names a semaphore by its process ID, leaves it behind when it is killed, and does not start where there is
  /// one: a later process may have the same ID. So those of processes that have ended are removed first.
  static func prefix(_ offset: String) -> [String] {
    let folder = "/dev/shm"
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard let id = name.wholeMatch(of: #/(?:sem\.faketime_sem|faketime_shm)_(\d+)/#)?.1,
        !FileManager.default.fileExists(atPath: "/proc/\(id)")
      else { continue }
      // Another test may just have removed it.
      try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
    return ["faketime", "-f", offset]
  }
}
