import Glibc

/// What the C library says about an `errno` value, such as `No space left on device`.
func systemMessage(_ code: Int32) -> String {
  strerror(code).map { String(cString: $0) } ?? "error \(code)"
}
