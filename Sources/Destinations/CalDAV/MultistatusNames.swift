import Foundation

/// A parser for the resource names that a WebDAV server lists (RFC 4918, section 14.16): the text after the last
/// slash of each `href`.
///
/// Other elements are skipped, and the XML need not be well-formed. A name is only ever appended to the collection's own
/// URL, so that a server cannot direct requests elsewhere.
enum MultistatusNames {
  /// Returns the decoded names in the order of the answer. An answer of another form has fewer names or none.
  static func names(in body: [UInt8]) -> [String] {
    var names: [String] = []
    var rest = body[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      guard let close = rest[open...].firstIndex(of: UInt8(ascii: ">")) else { break }
      let tag = rest[rest.index(after: open)..<close]
      rest = rest[rest.index(after: close)...]
      guard isHref(tag) else { continue }
      let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
      if let name = name(rest[..<end]) { names.append(name) }
      rest = rest[end...]
    }
    return names
  }

  /// Returns whether a tag is `href`, with any prefix and attributes.
  private static func isHref(_ tag: ArraySlice<UInt8>) -> Bool {
    let name = tag.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
    let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[name.index(after: $0)...] } ?? name
    return local.elementsEqual("href".utf8)
  }

  private static func name(_ href: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: href, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    let last = text.utf8.lastIndex(of: UInt8(ascii: "/")).map { text[text.utf8.index(after: $0)...] } ?? text[...]
    return last.isEmpty ? nil : String(last).removingPercentEncoding
  }
}
