/// A search for elements by local name in the simple XML of S3 and WebDAV servers: no attributes, no comments, no
/// element inside another of the same name.
enum XMLElements {
  /// Returns the content of the first element with this name, with entities resolved.
  static func first(_ name: String, in text: some StringProtocol) -> String? {
    var found: String?
    visit(name, in: text) { content in
      found = unescaped(content)
      return false
    }
    return found
  }

  /// Returns the raw content of all elements with this name.
  static func all(_ name: String, in text: some StringProtocol) -> [Substring] {
    var found: [Substring] = []
    visit(name, in: text) { content in
      found.append(content)
      return true
    }
    return found
  }

  private static func visit(_ name: String, in text: some StringProtocol, _ take: (Substring) -> Bool) {
    let text = Substring(text)
    let (bytes, name) = (text.utf8, Array(name.utf8))
    var index = bytes.startIndex
    var content: String.Index?
    while let open = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      guard let close = bytes[open...].firstIndex(of: UInt8(ascii: ">")) else { return }
      index = bytes.index(after: close)
      var tag = bytes[bytes.index(after: open)..<close]
      let isEnd = tag.first == UInt8(ascii: "/")
      if isEnd { tag = tag.dropFirst() }
      let isEmpty = tag.last == UInt8(ascii: "/")
      if isEmpty { tag = tag.dropLast() }
      let qualified = tag.prefix { $0 > 0x20 }
      let local =
        qualified.lastIndex(of: UInt8(ascii: ":")).map { qualified[qualified.index(after: $0)...] } ?? qualified
      guard local.elementsEqual(name) else { continue }
      if isEmpty {
        if !take(text[open..<open]) { return }
      } else if !isEnd {
        content = index
      } else if let start = content {
        content = nil
        if !take(text[start..<open]) { return }
      }
    }
  }

  /// Returns the text with `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and numeric entities resolved; others stay.
  static func unescaped(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return String(text) }
    // Works on scalars, because a `;` and a combining accent after it form one character.
    var result = String.UnicodeScalarView()
    var rest = Substring(text).unicodeScalars
    while let ampersand = rest.firstIndex(of: "&") {
      result.append(contentsOf: rest[..<ampersand])
      rest = rest[ampersand...]
      guard let end = rest.prefix(12).firstIndex(of: ";"),
        let character = character(Substring(rest[rest.index(after: ampersand)..<end]))
      else {
        result.append("&")
        rest = rest.dropFirst()
        continue
      }
      result.append(character)
      rest = rest[rest.index(after: end)...]
    }
    result.append(contentsOf: rest)
    return String(result)
  }

  private static func character(_ entity: Substring) -> Unicode.Scalar? {
    switch entity {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    case _ where entity.hasPrefix("#x"): UInt32(entity.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
    case _ where entity.hasPrefix("#"): UInt32(entity.dropFirst()).flatMap(Unicode.Scalar.init)
    default: nil
    }
  }
}
