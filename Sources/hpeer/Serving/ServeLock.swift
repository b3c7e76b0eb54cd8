import Foundation
import OperatingSystem

/// One server per store: two would show two codes and fight for one socket.
struct ServeLock {
  private let descriptor: Int32

  init(_ home: Home) throws {
    do {
      descriptor = try FileLock.open(home.directory + "/serve.lock")
    } catch {
      throw CommandFailure(.other, "\(error.path) cannot be used: \(error.reason).")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.text(in: descriptor)
      close(descriptor)
      throw CommandFailure(
        .storeLocked,
        "hpeer is already serving this store\(holder.map { " (process \($0))" } ?? ""): stop it first, or give this one another store with --home."
      )
    }
    let text = "\(getpid())\n"
    ftruncate(descriptor, 0)
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
  }

  func release() {
    close(descriptor)
  }

  /// The process that wrote it.
  private static func text(in descriptor: Int32) -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    return Int32(String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
  }
}
