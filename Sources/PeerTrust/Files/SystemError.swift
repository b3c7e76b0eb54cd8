#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A failed system call on a path.
struct SystemError: Error, Hashable, CustomStringConvertible {
  let call: String
  let path: String
  let code: Int32

  /// Takes `errno`, so make it directly after the call.
  init(_ call: String, _ path: String) {
    self.code = errno
    self.call = call
    self.path = path
  }

  /// The system's words, such as `Permission denied`.
  var reason: String { String(cString: strerror(code)) }

  var description: String { "\(call) \(path): \(reason)" }
}
