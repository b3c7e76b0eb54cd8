import Foundation

extension XMLScanner {
  /// Skips everything before the first `<HealthData` outside a comment; false when there is none.
  ///
  /// - Parameters:
  ///   - root: the name of the element that is looked for.
  ///   - comment: called with the first bytes of each comment, where Apple writes the version of the export.
  mutating func skipProlog(
    root: StaticString = "HealthData", comment: (String) -> Void
  ) throws(ImportError) -> Bool {
    while true {
      guard let found = Bytes(buffer + position, filled - position).firstIndex(of: UInt8(ascii: "<")) else {
        position = filled
        if try !refill(keeping: filled) { return false }
        continue
      }
      position += found
      // Enough for `<HealthData ` and for the text of a short comment.
      if filled - position < 256, try refill(keeping: position) { continue }
      let rest = Bytes(buffer + position, filled - position)
      if rest.hasPrefix("<!--") {
        let text = Bytes(rest.start, min(rest.count, 256))
        comment(text.text)
        if try !skip(past: "-->", from: position + 4) { return false }
      } else if rest.dropFirst(1).hasPrefix(root), rest.count > root.utf8CodeUnitCount + 1,
        Self.delimits(rest[root.utf8CodeUnitCount + 1])
      {
        return true
      } else {
        position += 1
      }
    }
  }

  private static func delimits(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
  }
}
