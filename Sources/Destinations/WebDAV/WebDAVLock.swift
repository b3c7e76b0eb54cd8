import Foundation

/// An exclusive write lock on a resource or on a collection and all that is in it (RFC 4918, sections 6 and 7).
struct WebDAVLock: Hashable, Sendable {
  /// What is locked: its name, and where that is.
  let name: String
  let url: String
  /// With its brackets: `<opaquelocktoken:…>`.
  let token: String
  /// How long it lasts from the answer on, unless it is refreshed.
  let timeout: Duration
  /// The lock has made an empty resource, which was not there before.
  let hasMadeResource: Bool

  /// How long one is asked for: as long as others wait for a writer that was killed.
  static let asked = Duration.seconds(30)

  /// The body of a `LOCK` that asks for one.
  static let request = Array(
    """
    <?xml version="1.0" encoding="utf-8"?>
    <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>\
    <D:owner>hpeer</D:owner></D:lockinfo>
    """.utf8)

  /// `nil` of an answer that grants none.
  init?(_ response: HTTPService.Response, name: String, url: String) {
    guard response.status == 200 || response.status == 201,
      let token = Self.token(response.header("Lock-Token"))
    else { return nil }
    (self.name, self.url) = (name, url)
    self.token = token
    timeout = Self.timeout(in: response.body)
    // Some servers answer so to every lock; no lock makes a collection.
    hasMadeResource = response.status == 201 && !name.hasSuffix("/")
  }

  /// Names the lock to a request for what is in it: a list that is tagged with what is locked, since some servers take
  /// an untagged one for the resource that is asked for alone.
  var condition: (name: String, value: String) { ("If", "<\(url)> (\(token))") }

  // MARK: What servers say

  /// The token of a `Lock-Token` header; `nil` of what is none, or could not be sent back.
  static func token(_ header: String?) -> String? {
    guard let text = header?.trimmingCharacters(in: .whitespaces), text.utf8.count <= 512, text.hasPrefix("<"),
      text.hasSuffix(">"), text.utf8.count > 2,
      text.utf8.dropFirst().dropLast().allSatisfy({ (0x21...0x7E).contains($0) && !"<>()\"".utf8.contains($0) })
    else { return nil }
    return text
  }

  /// What a server grants, between 2 seconds and what was asked for; as asked where it does not say.
  static func timeout(in body: [UInt8]) -> Duration {
    guard body.count <= 64 * 1_024,
      let text = XMLElements.first("timeout", in: String(decoding: body, as: UTF8.self)),
      text.lowercased().hasPrefix("second-"), let seconds = Int(text.dropFirst("second-".count).prefix(9))
    else { return asked }
    return min(max(.seconds(seconds), .seconds(2)), asked)
  }

  /// Whether an answer says that another writer holds a lock: 423, or one for each resource of which one is that (RFC
  /// 4918, section 9.10.6).
  static func isHeldByOthers(_ response: HTTPService.Response) -> Bool { says([423], response) }

  /// Whether the answer to a write under a lock says that the lock is gone: it ran out, or the server has lost it, as
  /// Apache does at times when others lock something else at the same moment.
  static func isGone(_ response: HTTPService.Response) -> Bool { says([412, 423], response) }

  /// Of the request itself, or of a resource that it depends on.
  private static func says(_ statuses: Set<Int>, _ response: HTTPService.Response) -> Bool {
    if statuses.contains(response.status) { return true }
    guard response.status == 207 else { return false }
    return XMLElements.all("status", in: String(decoding: response.body.prefix(64 * 1_024), as: UTF8.self))
      .contains { line in statuses.contains { line.contains(" \($0)") } }
  }
}
