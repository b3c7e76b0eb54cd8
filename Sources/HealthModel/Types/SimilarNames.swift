/// Spelling suggestions.
public enum SimilarNames {
  /// The `names` closest to `text`, best first, for "did you mean".
  public static func suggestions(for text: String, among names: [String], limit: Int = 3) -> [String] {
    let text = text.lowercased()
    let wanted = Array(text.utf8)
    return names.map { (name: $0, distance: distance(wanted, Array($0.lowercased().utf8))) }
      .filter { $0.distance <= max(2, wanted.count / 3) || $0.name.lowercased().contains(text) }
      .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
      .prefix(limit)
      .map(\.name)
  }

  /// Levenshtein distance in bytes.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var previous = Array(0...b.count)
    for i in a.indices {
      var current = [i + 1]
      current.reserveCapacity(b.count + 1)
      for j in b.indices {
        current.append(min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, current[j] + 1))
      }
      previous = current
    }
    return previous[b.count]
  }
}
