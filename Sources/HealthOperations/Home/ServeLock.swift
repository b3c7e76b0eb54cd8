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
    // Whoever asks who serves holds it for a moment.
    var isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    for _ in 0..<5 where !isLocked {
      usleep(10_000)
      isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
    guard isLocked else {
      let holder = Self.text(in: descriptor)
      close(descriptor)
      throw .held(by: holder)
    }
    let text = "\(getpid())\n"
    ftruncate(descriptor, 0)
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
  }

  /// The process that serves a home or runs for it; `nil` where none does. Takes nothing.
  public static func holder(of home: Home) -> Int32? {
    let descriptor = open(home.directory + "/serve.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Shared, so that two that ask are not each other's servers.
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
    return text(in: descriptor)
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
