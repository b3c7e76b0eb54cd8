import Cryptography
import Foundation

/// The headers from the settings, sent with every request.
enum WebhookHeaders {
  /// The names of the headers that hpeer sets itself.
  private static let reserved: Set<String> = [
    "connection", "content-encoding", "content-length", "content-type", "expect", "host", "hpeer-starts-over",
    "hpeer-test",
    "idempotency-key", "transfer-encoding", "upgrade", "webhook-id", "webhook-signature", "webhook-timestamp",
  ]
  /// The names of the headers whose values are always secrets.
  private static let secret: Set<String> = ["authorization", "cookie", "proxy-authorization", "x-api-key"]

  /// Checks the headers without reading secrets. Throws ``SettingsError``.
  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    var names: Set<String> = settings.has("token") ? ["authorization"] : []
    for key in ["headers", "secret-headers"] {
      for (name, value) in settings.table(key).sorted(by: { $0.key < $1.key }) {
        guard HTTPHeaderText.isName(name) else {
          throw SettingsError(key, .invalid("has a name that no header can have: \(name)"))
        }
        if key == "secret-headers" {
          guard SecretReference(value) != nil else { throw SettingsError(key, .secretInTheOpen) }
        } else if secret.contains(name.lowercased()) {
          throw SettingsError(key, .invalid("has \(name), which is a secret: put it into secret-headers"))
        } else {
          try requireValue(value, of: name, key)
        }
        if reserved.contains(name.lowercased()) {
          throw SettingsError(key, .invalid("has \(name), which hpeer sets itself"))
        }
        guard names.insert(name.lowercased()).inserted else {
          throw SettingsError(key, .invalid("has \(name), which is there twice"))
        }
      }
    }
  }

  /// Returns the headers sorted by name, then those with secrets. Blocking: reads secrets.
  ///
  /// - Parameter settings: settings that have passed ``validate(_:)``.
  static func read(
    _ settings: DestinationSettings, _ secrets: SecretStore
  ) throws(SettingsError) -> [(name: String, value: String)] {
    var headers = settings.table("headers").sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    for (name, reference) in settings.table("secret-headers").sorted(by: { $0.key < $1.key }) {
      let value = try secrets.read(reference, for: "secret-headers")
      try requireValue(value, of: name, "secret-headers")
      headers.append((name, value))
    }
    if let token = try secrets.read("token", of: settings) {
      let header = HTTPHeaderText.bearer(token)
      try requireValue(header.value, of: header.name, "token")
      headers.append(header)
    }
    return headers
  }

  private static func requireValue(_ value: String, of name: String, _ key: String) throws(SettingsError) {
    guard HTTPHeaderText.isValue(value) else {
      throw SettingsError(key, .invalid("has a value for \(name) that no header can have, such as one of two lines"))
    }
  }
}

/// A request signer for Standard Webhooks 1.0.0 (https://www.standardwebhooks.com), symmetric: HMAC-SHA-256 over the
/// bytes `ID.TIMESTAMP.BODY`.
///
/// `ID` is the key of the batch, the same in a repeated delivery. `TIMESTAMP` is the time of sending in seconds since
/// 1970, in decimal. `BODY` is the body as it is sent, compressed if compression is on.
struct WebhookSignature: Sendable {
  private let key: SymmetricKey

  /// Creates a signer.
  ///
  /// - Parameter secret: `whsec_` and the key in base64; or any text, whose UTF-8 bytes are the key.
  /// - Throws: ``SettingsError`` if the text after `whsec_` is not base64.
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

  /// Returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.
  func headers(id: String, body: [UInt8], now: Date) -> [(name: String, value: String)] {
    let timestamp = String(Int(now.timeIntervalSince1970))
    let code = HMAC.authenticationCode(for: Array("\(id).\(timestamp).".utf8) + body, using: key)
    let signature = Data(code).base64EncodedString()
    return [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", "v1,\(signature)")]
  }
}
