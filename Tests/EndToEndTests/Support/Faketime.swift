import Foundation

/// A wrapper around faketime, which runs a program with a shifted wall clock.
enum Faketime {
  static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/faketime")

  /// Returns the command that starts a program with its clock shifted by `offset`, in libfaketime's notation, such as
  /// `+10800`.
  ///
  /// faketime names a semaphore after its process ID, leaves it behind when it is killed, and fails to start if the
  /// semaphore exists, as it may when process IDs are reused. So the semaphores of ended processes are removed first.
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
