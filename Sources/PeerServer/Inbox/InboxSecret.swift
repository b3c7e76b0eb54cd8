import HTTPTypes
import Hummingbird
import PeerTrust

/// Where apps put a secret: some let one name the header field, some have one of their own.
enum InboxSecret {
  private static let longest = 600
  /// In this order; what is no secret of this machine's shape is passed over.
  private static let fields: [HTTPField.Name] =
    [.authorization] + ["X-API-Key", "X-Webhook-Secret", "X-Hpeer-Secret"].compactMap { HTTPField.Name($0) }

  /// The secret that a request shows; `nil` for none, or one that cannot be of this machine.
  static func shown(by request: Request) -> BearerToken? {
    for field in fields {
      guard let value = request.headers[field], value.utf8.count <= longest else { continue }
      let text = value.prefix(7).lowercased() == "bearer " ? value.dropFirst(7) : value[...]
      if let secret = BearerToken(text: text.filter { $0 != " " }) { return secret }
    }
    return nil
  }
}
