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
