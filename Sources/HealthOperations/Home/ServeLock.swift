import Foundation
import OperatingSystem

/// Why a home cannot be served.
public enum ServeLockError: Error, Hashable, Sendable {
  /// Another process serves it: this one, where it can be seen.
  case held(by: Int32?)
  /// The file that is locked cannot be used.
  case unusable(path: String, reason: String)
}

/// One server per store: two would show two codes and fight for one socket. The kernel frees it when its holder dies.
public struct ServeLock: Sendable {
  private let descriptor: Int32

  /// Does not wait.
  public init(_ home: Home) throws(ServeLockError) {
    do {
      descriptor = try FileLock.open(home.directory + "/serve.lock")
    } catch {
      throw .unusable(path: error.path, reason: error.reason)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.text(in: descriptor)
      close(descriptor)
      throw .held(by: holder)
    }
    let text = "\(getpid())\n"
    ftruncate(descriptor, 0)
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
  }

  /// To be called once.
  public func release() {
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
