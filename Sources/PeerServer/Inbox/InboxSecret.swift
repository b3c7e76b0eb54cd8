import HTTPTypes
import Hummingbird
import PeerTrust

/// The secret in a request of an app. Some apps let a person name the header field, others have a fixed one.
enum InboxSecret {
  private static let longest = 600
  /// The header fields in order of preference. Values that cannot be a secret of this machine are skipped.
  private static let fields: [HTTPField.Name] =
    [.authorization] + ["X-API-Key", "X-Webhook-Secret", "X-Hpeer-Secret"].compactMap { HTTPField.Name($0) }

  /// Returns the secret in a request, or `nil` if there is none that this machine could have issued.
  static func shown(by request: Request) -> BearerToken? {
    for field in fields {
      guard let value = request.headers[field], value.utf8.count <= longest else { continue }
      let text = value.prefix(7).lowercased() == "bearer " ? value.dropFirst(7) : value[...]
      if let secret = BearerToken(text: text.filter { $0 != " " }) { return secret }
    }
    return nil
  }
}
