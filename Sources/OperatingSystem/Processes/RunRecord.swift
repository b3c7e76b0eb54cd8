import Foundation
import Glibc

/// A file that names the run of a program while it lasts. A process that is killed meanwhile leaves the file there, and the
/// program running.
struct RunRecord: Sendable {
  /// Of the program's environment: what it starts has it, too.
  static let variable = "HPEER_RUN"

  let path: String

  /// As ``ProcessTree`` looks for it.
  static func mark(of name: String) -> String { "\(variable)=\(name)" }

  /// Ends what is left of a run that nobody waits for any more.
  func endLeftover() {
    // What was cut off while it was written was not run yet.
    guard let bytes = try? PrivateFile.read(path, limit: 64).bytes,
      let name = UUID(uuidString: String(decoding: bytes, as: UTF8.self))
    else { return }
    ProcessTree(root: nil, mark: Self.mark(of: name.uuidString)).kill()
  }

  /// - Parameter name: a UUID.
  func begin(_ name: String) throws(SystemError) {
    try PrivateFile.makeDirectory((path as NSString).deletingLastPathComponent)
    let descriptor = try PrivateFile.open(path, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(descriptor) }
    let code = Array(name.utf8).withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw SystemError("write", path, code: code) }
  }

  func end() { unlink(path) }
}
