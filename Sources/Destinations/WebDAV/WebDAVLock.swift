import Foundation

/// An exclusive write lock on a resource, or on a collection with its members (RFC 4918, sections 6 and 7).
struct WebDAVLock: Hashable, Sendable {
  /// The name of the locked resource in the store.
  let name: String
  let url: String
  /// The lock token with its brackets: `<opaquelocktoken:…>`.
  let token: String
  /// The duration of the lock, counted from the answer, unless it is refreshed.
  let timeout: Duration
  /// Whether locking has created an empty resource that didn't exist before.
  let hasMadeResource: Bool

  /// The requested duration: the time that others must wait after a writer was killed.
  static let asked = Duration.seconds(30)

  /// The body of a `LOCK` request for an exclusive write lock.
  static let request = Array(
    """
    <?xml version="1.0" encoding="utf-8"?>
    <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
    <D:owner>hpeer</D:owner></D:lockinfo>
    """.utf8)

  /// Parses an answer to `LOCK`, or returns `nil` if it grants no lock.
  init?(_ response: HTTPService.Response, name: String, url: String) {
    guard response.status == 200 || response.status == 201,
      let token = Self.token(response.header("Lock-Token"))
    else { return nil }
    (self.name, self.url) = (name, url)
    self.token = token
    timeout = Self.timeout(in: response.body)
    // Some servers answer 201 to every lock, and locking never creates a collection.
    hasMadeResource = response.status == 201 && !name.hasSuffix("/")
  }

  /// The `If` header for requests under the lock. It is tagged with the URL of the locked resource, because some
  /// servers apply an untagged list only to the requested resource.
  var condition: (name: String, value: String) { ("If", "<\(url)> (\(token))") }

  // MARK: Answers

  /// Returns the token of a `Lock-Token` header, or `nil` if it is invalid or could not be sent back.
  static func token(_ header: String?) -> String? {
    guard let text = header?.trimmingCharacters(in: .whitespaces), text.utf8.count <= 512, text.hasPrefix("<"),
      text.hasSuffix(">"), text.utf8.count > 2,
      text.utf8.dropFirst().dropLast().allSatisfy({ (0x21...0x7E).contains($0) && !"<>()\"".utf8.contains($0) })
    else { return nil }
    return text
  }

  /// Returns the granted duration, at least 2 seconds and at most the requested one, which is also the default.
  static func timeout(in body: [UInt8]) -> Duration {
    guard body.count <= 64 * 1_024,
      let text = XMLElements.first("timeout", in: String(decoding: body, as: UTF8.self)),
      text.lowercased().hasPrefix("second-"), let seconds = Int(text.dropFirst("second-".count).prefix(9))
    else { return asked }
    return min(max(.seconds(seconds), .seconds(2)), asked)
  }

  /// Returns whether another writer holds a lock: status 423, or 423 for any resource of a 207 answer (RFC 4918,
  /// section 9.10.6).
  static func isHeldByOthers(_ response: HTTPService.Response) -> Bool { says([423], response) }

  /// Returns whether a write failed because the lock is gone: it expired, or the server lost it, as Apache sometimes
  /// does when others lock something else at the same moment.
  static func isGone(_ response: HTTPService.Response) -> Bool { says([412, 423], response) }

  /// Returns whether the answer, or any resource in a 207 answer, has one of the statuses.
  private static func says(_ statuses: Set<Int>, _ response: HTTPService.Response) -> Bool {
    if statuses.contains(response.status) { return true }
    guard response.status == 207 else { return false }
    return XMLElements.all("status", in: String(decoding: response.body.prefix(64 * 1_024), as: UTF8.self))
      .contains { line in statuses.contains { line.contains(" \($0)") } }
  }
}
