import Foundation
import Glibc

/// Records the current run of a program in a file, so that the processes that it leaves orphaned can be killed where this
/// process is killed before the run ends.
struct RunRecord: Sendable {
  /// The environment variable that marks the program, and all that it starts, with the name of the run.
  static let variable = "HPEER_RUN"

  let path: String

  /// As ``ProcessTree`` looks for it.
  static func mark(of name: String) -> String { "\(variable)=\(name)" }

  /// Kills the orphaned processes of the recorded run; does nothing where that came to its end.
  func killOrphans() {
    // A record that was cut off is of a run that had not begun.
    guard let bytes = try? PrivateFile.read(path, limit: 64).bytes,
      let name = UUID(uuidString: String(decoding: bytes, as: UTF8.self))
    else { return }
    ProcessTree(root: nil, mark: Self.mark(of: name.uuidString)).kill()
  }

  /// - Parameter name: a UUID.
  func begin(_ name: String) throws(SystemError) {
    let descriptor = try PrivateFile.open(path, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(descriptor) }
    let code = Array(name.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw SystemError("write", path, code: code) }
  }

  func end() { unlink(path) }
}
