import COpenSSL

/// A failed call of libcrypto, which should not happen. The reason is OpenSSL's own.
public struct OpenSSLError: Error, Hashable, Sendable {
  /// The operation and, if available, the earliest entry of OpenSSL's error queue.
  public let reason: String

  /// Creates an error from this thread's error queue and clears it. Call it directly after the failed call.
  package init(_ operation: String) {
    let code = ERR_get_error()
    ERR_clear_error()
    let words = code == 0 ? nil : ERR_reason_error_string(code).map { String(cString: $0) }
    reason = words.map { "\(operation): \($0)" } ?? operation
  }
}

extension OpenSSLError: CustomStringConvertible {
  public var description: String { "OpenSSL failed (\(reason)): reinstall libssl3 and try again." }
}
