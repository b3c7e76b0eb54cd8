/// Texts from outside, divided by what their bytes are. Swift compares by characters, and a combining mark after a comma
/// makes one character of both, so that `split(separator: ",")` does not see the comma.
extension StringProtocol {
  /// What lies between the occurrences of an ASCII character.
  package func parts(
    separatedBy separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
  ) -> [SubSequence] {
    unicodeScalars.split(
      maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences, whereSeparator: { $0 == separator }
    ).map { self[$0.startIndex..<$0.endIndex] }
  }

  /// `hasPrefix` for UTF-8 bytes: without Unicode normalization, and also in the middle of a character.
  package func begins(with prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

  /// `hasSuffix` for UTF-8 bytes, likewise.
  package func ends(with suffix: some StringProtocol) -> Bool {
    utf8.reversed().starts(with: suffix.utf8.reversed())
  }
}

extension String {
  /// The beginning, of at most so many bytes of UTF-8, cut between two Unicode scalars. What is kept, sent or printed of a
  /// text from outside is cut so: one character may have millions of combining marks.
  package func shortened(toBytes count: Int) -> String {
    guard var end = utf8.index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex else {
      return self
    }
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[startIndex..<end])
  }
}
