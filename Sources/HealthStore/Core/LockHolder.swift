import Foundation

/// Who holds a lock, as far as the kernel lets everybody see.
enum LockHolder {
  /// https://www.sqlite.org/walformat.html section 2.3.2: the byte of the index of the log that a writer locks.
  private static let writeLock = "120"

  /// `hpeer import (process 4711)`; `nil` where the process is not seen here.
  static func name(ofWriterTo path: String) -> String? {
    var status = stat()
    // Asking by fcntl(2) would need a descriptor, and closing that drops this process's own locks on the file.
    guard stat(path + "-shm", &status) == 0, let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
    else { return nil }
    // 12: POSIX  ADVISORY  WRITE 4711 08:01:131 120 120
    for line in locks.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count >= 8, words[1] == "POSIX", words[3] == "WRITE", words[6] == writeLock,
        words[5].split(separator: ":").last.map(String.init) == String(status.st_ino), let process = Int(words[4]),
        process > 0
      else { continue }
      return name(of: process)
    }
    return nil
  }

  private static func name(of process: Int) -> String {
    let words = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8))?.split(separator: "\0") ?? []
    let program = words.first.map { URL(fileURLWithPath: String($0)).lastPathComponent } ?? ""
    if program.isEmpty { return "process \(process)" }
    // What is done, and not to what: other programs' arguments are nobody's business.
    let command = program == "hpeer" && words.count > 1 && !words[1].hasPrefix("-") ? " \(words[1])" : ""
    return "\(program)\(command) (process \(process))"
  }
}
