import Foundation
import HealthModel

/// The members of a collection as a WebDAV server lists them (`PROPFIND` of depth 1; RFC 4918, section 9.1).
struct WebDAVListing: Hashable, Sendable {
  struct Member: Hashable, Sendable {
    /// The last part of the path, decoded: not empty, not `.` or `..`, and without `/`.
    var name: String
    var isCollection: Bool
    var modified: Timestamp?
  }

  /// The members in the order of the answer, without the collection itself.
  let members: [Member]

  /// Parses an answer; any other text has no members.
  init(_ body: [UInt8], now: Date = Date()) {
    var found: [(depth: Int, member: Member)] = []
    var least = Int.max
    for response in XMLElements.all("response", in: String(decoding: body, as: UTF8.self)) {
      guard let path = XMLElements.first("href", in: response).map(Self.path) else { continue }
      let depth = Self.depth(of: path)
      // A server behind a proxy may return other paths, so the shallowest one is the collection.
      least = min(least, depth)
      guard let name = Self.name(of: path), name != ".", name != "..",
        !name.isEmpty, !name.contains("/"), !name.utf8.contains(0)
      else { continue }
      found.append(
        (
          depth,
          Member(
            name: name, isCollection: !XMLElements.all("collection", in: response).isEmpty,
            modified: XMLElements.first("getlastmodified", in: response).flatMap { RetryAfter.date($0, now: now) })
        ))
    }
    let depth = least < Int.max ? least + 1 : 0
    members = found.filter { $0.depth == depth }.map(\.member)
  }

  /// Returns the number of names in a path. Doesn't split the path, because a server may send millions of slashes.
  private static func depth(of path: Substring) -> Int {
    var (depth, isName) = (0, false)
    for byte in path.utf8 {
      let isSlash = byte == UInt8(ascii: "/")
      if !isSlash, !isName { depth += 1 }
      isName = !isSlash
    }
    return depth
  }

  /// Returns the last name of a path, decoded.
  private static func name(of path: Substring) -> String? {
    let slash = UInt8(ascii: "/")
    guard let last = path.utf8.lastIndex(where: { $0 != slash }) else { return nil }
    let first = path.utf8[..<last].lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.startIndex
    return String(path[first...last]).removingPercentEncoding
  }

  /// Returns the path of an address or of a path.
  private static func path(_ href: String) -> Substring {
    let text = href.trimmingCharacters(in: .whitespacesAndNewlines)[...]
    guard let scheme = text.range(of: "://"), !text[..<scheme.lowerBound].contains("/") else { return text }
    let rest = text[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { rest[$0...] } ?? ""
  }
}
