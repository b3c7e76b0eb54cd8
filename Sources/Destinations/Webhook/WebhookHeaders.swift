/// The headers that a person gives to every request.
enum WebhookHeaders {
  /// Those that are the request's own.
  private static let reserved: Set<String> = [
    "connection", "content-encoding", "content-length", "expect", "host", "hpeer-starts-over", "hpeer-test",
    "idempotency-key", "transfer-encoding", "upgrade", "webhook-id", "webhook-signature", "webhook-timestamp",
  ]
  /// Those that are secrets by what they are.
  private static let secret: Set<String> = ["authorization", "cookie", "proxy-authorization", "x-api-key"]

  /// In the order of their names. Blocking: reads secrets.
  static func read(
    _ settings: DestinationSettings, _ secrets: SecretStore
  ) throws(SettingsError) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    for (name, value) in settings.table("headers").sorted(by: { $0.key < $1.key }) {
      if secret.contains(name.lowercased()) {
        throw SettingsError("headers", .invalid("has \(name), which is a secret: put it into secret-headers"))
      }
      headers.append((name, value))
    }
    for (name, value) in settings.table("secret-headers").sorted(by: { $0.key < $1.key }) {
      headers.append((name, try secrets.read(value, for: "secret-headers")))
    }
    if let token = try secrets.read("token", of: settings) { headers.append(HTTPHeaderText.bearer(token)) }
    var names: Set<String> = []
    for (name, value) in headers {
      let key = settings.table("headers")[name] == nil ? "secret-headers" : "headers"
      guard HTTPHeaderText.isName(name) else {
        throw SettingsError(key, .invalid("has a name that no header can have: \(name)"))
      }
      guard HTTPHeaderText.isValue(value) else {
        throw SettingsError(key, .invalid("has a value for \(name) that no header can have, such as one of two lines"))
      }
      if reserved.contains(name.lowercased()) {
        throw SettingsError(key, .invalid("has \(name), which hpeer sets itself"))
      }
      guard names.insert(name.lowercased()).inserted else {
        throw SettingsError(key, .invalid("has \(name), which is there twice"))
      }
    }
    return headers
  }
}
