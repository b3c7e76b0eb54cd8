import COpenSSL

/// A call into libcrypto failed. It should not happen; the reason is OpenSSL's own.
public struct OpenSSLError: Error, Hashable, Sendable {
  /// The operation and, where there is one, the newest entry of OpenSSL's error queue.
  public let reason: String

  /// Takes and clears this thread's error queue, so make it directly after the call.
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
