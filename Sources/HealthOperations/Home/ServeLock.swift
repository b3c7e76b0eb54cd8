import Foundation
import OperatingSystem

/// The reasons why a home cannot be served.
public enum ServeLockError: Error, Hashable, Sendable {
  /// Another process serves the home; its process ID, if it can be read.
  case held(by: Int32?)
  /// The lock file cannot be used.
  case unusable(path: String, reason: String)
}

/// A lock that allows one server per home: two servers would show two codes and compete for one socket. The kernel
/// releases it when the process ends.
public struct ServeLock: Sendable {
  private let descriptor: Int32

  /// Acquires the lock. If another process serves the home, throws ``ServeLockError/held(by:)`` after at most 50 ms.
  public init(_ home: Home) throws(ServeLockError) {
    do {
      descriptor = try FileLock.open(home.directory + "/serve.lock")
    } catch {
      throw .unusable(path: error.path, reason: error.reason)
    }
    // holder(of:) takes a shared lock for a moment, so a failed attempt is repeated.
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

  /// Returns the ID of the process that serves a home or runs for it, or `nil`. Does not take the lock.
  public static func holder(of home: Home) -> Int32? {
    let descriptor = open(home.directory + "/serve.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // A shared lock, so that two processes that ask at once do not take each other for a server.
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
    return text(in: descriptor)
  }

  /// Releases the lock. It must be called only once.
  public func release() {
    close(descriptor)
  }

  /// Returns the process ID that the holder wrote into the lock file.
  private static func text(in descriptor: Int32) -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    return Int32(String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
  }
}
