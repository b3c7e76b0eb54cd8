import Foundation
import Glibc

/// A file that records the current run of a program, so that a later run can kill its orphaned processes if this
/// process is killed first.
struct RunRecord: Sendable {
  /// The environment variable that marks the program, and all that it starts, with the name of the run.
  static let variable = "HPEER_RUN"

  let path: String

  /// Returns the mark that ``ProcessTree`` searches for.
  static func mark(of name: String) -> String { "\(variable)=\(name)" }

  /// Kills the orphaned processes of the recorded run. Does nothing if that run ended.
  func killOrphans() {
    // A truncated record belongs to a run that had not started.
    guard let bytes = try? PrivateFile.read(path, limit: 64).bytes,
      let name = UUID(uuidString: String(decoding: bytes, as: UTF8.self))
    else { return }
    ProcessTree(root: nil, mark: Self.mark(of: name.uuidString)).kill()
  }

  /// Records the start of a run.
  /// - Parameter name: a UUID.
  func begin(_ name: String) throws(SystemError) {
    let descriptor = try PrivateFile.open(path, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(descriptor) }
    let code = Array(name.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw SystemError("write", path, code: code) }
  }

  func end() { unlink(path) }
}
