/// Byte-based splitting and matching of external text. Swift compares by characters: a comma followed by a combining
/// mark is a single character, which `split(separator: ",")` does not find.
extension StringProtocol {
  /// Returns the parts of the text between occurrences of an ASCII character.
  package func parts(
    separatedBy separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
  ) -> [SubSequence] {
    unicodeScalars.split(
      maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences, whereSeparator: { $0 == separator }
    ).map { self[$0.startIndex..<$0.endIndex] }
  }

  /// Returns whether the text begins with the UTF-8 bytes of `prefix`, without Unicode normalization and even in the
  /// middle of a character.
  package func begins(with prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

  /// Returns whether the text ends with the UTF-8 bytes of `suffix`, likewise without normalization.
  package func ends(with suffix: some StringProtocol) -> Bool {
    utf8.reversed().starts(with: suffix.utf8.reversed())
  }
}

extension String {
  /// Returns the beginning of the text, at most `count` bytes of UTF-8, cut between two Unicode scalars. External
  /// text must be shortened this way because a character may have millions of combining marks.
  package func shortened(toBytes count: Int) -> String {
    guard var end = utf8.index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex else {
      return self
    }
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[startIndex..<end])
  }
}
