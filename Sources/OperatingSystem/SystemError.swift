import Glibc

/// A failed system call on a path.
public struct SystemError: Error, Hashable, CustomStringConvertible {
  /// The name of the failed call or its family: `open`, also for openat(2).
  public let call: String
  /// The path that the call was made on; perhaps a directory or a temporary file that the caller did not name.
  public let path: String
  /// The `errno` value.
  public let code: Int32
  /// Advice for a person, as the end of a sentence; replaces the system's message.
  public let remedy: String?

  /// Creates an error from `errno`. Call it directly after the failed call.
  public init(_ call: String, _ path: String) {
    self.init(call, path, code: errno)
  }

  /// Creates an error with a known code, independent of `errno`.
  ///
  /// - Parameter remedy: replaces the system's message; the end of a sentence.
  public init(_ call: String, _ path: String, code: Int32, remedy: String? = nil) {
    self.code = code
    self.call = call
    self.path = path
    self.remedy = remedy
  }

  /// The remedy, or the system's message, such as `Permission denied`.
  public var reason: String {
    remedy ?? (code == ELOOP ? "it is a symbolic link, and none is followed here" : SystemMessage.text(code))
  }

  public var description: String { "\(call) \(path): \(reason)" }
}

/// The C library's messages for error codes.
public enum SystemMessage {
  /// Returns the C library's message for an `errno` value, such as `No space left on device`.
  public static func text(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
