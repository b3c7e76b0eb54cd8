import Glibc

/// A failed system call on a path.
public struct SystemError: Error, Hashable, CustomStringConvertible {
  /// What was to be done, by the name of the call or its family: `open`, also of openat(2).
  public let call: String
  /// What it was to be done to; perhaps a directory or a temporary file that the caller did not name.
  public let path: String
  /// The `errno` value.
  public let code: Int32
  /// What a person can do about it, as the end of a sentence.
  public let remedy: String?

  /// Takes `errno`, so make it directly after the call.
  public init(_ call: String, _ path: String) {
    self.init(call, path, code: errno)
  }

  /// For a code that is known, whatever `errno` has become since.
  ///
  /// - Parameter remedy: takes the place of the system's words; the end of a sentence.
  public init(_ call: String, _ path: String, code: Int32, remedy: String? = nil) {
    self.code = code
    self.call = call
    self.path = path
    self.remedy = remedy
  }

  /// The system's words, such as `Permission denied`, and what to do.
  public var reason: String {
    remedy ?? (code == ELOOP ? "it is a symbolic link, and none is followed here" : SystemMessage.text(code))
  }

  public var description: String { "\(call) \(path): \(reason)" }
}

/// The words for what a system call has returned.
public enum SystemMessage {
  /// What the C library says about an `errno` value, such as `No space left on device`.
  public static func text(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
