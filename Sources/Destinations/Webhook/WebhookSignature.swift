import Cryptography
import Foundation

/// Signs requests as Standard Webhooks 1.0.0 has it (https://www.standardwebhooks.com), symmetrically: HMAC-SHA-256 over the
/// bytes `ID.TIMESTAMP.BODY`.
///
/// `ID` is the key of the batch, the same when it comes again; `TIMESTAMP` are the seconds since 1970 at which it was sent, in
/// decimal; `BODY` is what travels, compressed if it is.
struct WebhookSignature: Sendable {
  private let key: SymmetricKey

  /// - Parameter secret: `whsec_` and the key in base64; or any text, whose UTF-8 bytes are the key.
  init(secret: String) throws(SettingsError) {
    let mark = "whsec_"
    guard secret.hasPrefix(mark) else {
      key = SymmetricKey(data: Data(secret.utf8))
      return
    }
    guard let bytes = Data(base64Encoded: String(secret.dropFirst(mark.count))), !bytes.isEmpty else {
      throw SettingsError("signing-secret", .invalid("begins with whsec_, and what follows is no base64"))
    }
    key = SymmetricKey(data: bytes)
  }

  /// `webhook-id`, `webhook-timestamp` and `webhook-signature`.
  func headers(id: String, body: [UInt8], now: Date) -> [(name: String, value: String)] {
    let timestamp = String(Int(now.timeIntervalSince1970))
    let code = HMAC.authenticationCode(for: Array("\(id).\(timestamp).".utf8) + body, using: key)
    let signature = Data(code).base64EncodedString()
    return [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", "v1,\(signature)")]
  }
}
