import Foundation
import Glibc

/// The replacement of this process by another program, which inherits its terminal and standard streams: execve(2).
public enum ProgramReplacement {
  /// The path of this process's executable, without symbolic links; its original path if the file has been replaced
  /// since.
  public static var ownPath: String? {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
    // The kernel appends this to the path of a replaced file, as after an upgrade.
    let gone = " (deleted)"
    return path.hasSuffix(gone) ? String(path.dropLast(gone.count)) : path
  }

  /// Replaces this process. Returns only if that fails.
  public static func run(_ path: String, _ arguments: [String], environment: [String: String]) -> SystemError {
    let words = ([path] + arguments).map { strdup($0) }
    let settings = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { (words + settings).forEach { free($0) } }
    // Programs expect the default handling of SIGPIPE.
    signal(SIGPIPE, SIG_DFL)
    execve(path, words + [nil], settings + [nil])
    let error = SystemError("execve", path)
    signal(SIGPIPE, SIG_IGN)
    return error
  }
}
