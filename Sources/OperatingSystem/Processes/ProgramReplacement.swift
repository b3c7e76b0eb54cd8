import Foundation
import Glibc

/// This process becomes another program, which has its terminal and its standard streams: execve(2).
public enum ProgramReplacement {
  /// The file that this process runs, without symbolic links; also where another has taken its name since.
  public static var ownPath: String? {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
    // What the kernel says of a file that has been replaced, as by an upgrade.
    let gone = " (deleted)"
    return path.hasSuffix(gone) ? String(path.dropLast(gone.count)) : path
  }

  /// Returns only where it fails.
  public static func run(_ path: String, _ arguments: [String], environment: [String: String]) -> SystemError {
    let words = ([path] + arguments).map { strdup($0) }
    let settings = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { (words + settings).forEach { free($0) } }
    // A program expects what processes begin with.
    signal(SIGPIPE, SIG_DFL)
    execve(path, words + [nil], settings + [nil])
    let error = SystemError("execve", path)
    signal(SIGPIPE, SIG_IGN)
    return error
  }
}
