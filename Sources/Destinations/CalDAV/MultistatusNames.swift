import Foundation

/// The names of the resources that a WebDAV server lists (RFC 4918, section 14.16): what is behind the last slash of each `href`.
///
/// No XML parser: a name that is asked for later is put together from the collection's own address, so whatever a server says
/// here leads nowhere else.
enum MultistatusNames {
  /// In the order of the answer, decoded; of what is no such answer, none or less.
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

  /// `href`, with any prefix and any attributes.
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
