import HealthModel

/// Names of types that are several words, put together where the parser reads them: `hpeer stats resting heart rate`.
enum SpokenTypes {
  /// Commands whose words are types.
  private static let commands: Set = ["chart", "coverage", "latest", "show", "sources", "stats"]
  /// As many words as a name has at most.
  private static let longest = 5

  /// - Parameter words: what follows the command.
  static func arranged(_ words: [String], of command: String) -> [String] {
    guard commands.contains(command) else { return words }
    var rest = words.prefix { !$0.hasPrefix("-") }
    let others = words[rest.count...]
    var arranged: [String] = []
    while !rest.isEmpty {
      let count = (1...longest).reversed().first { $0 == 1 || $0 <= rest.count && isName(rest.prefix($0)) } ?? 1
      arranged.append(rest.prefix(count).joined(separator: " "))
      rest = rest.dropFirst(count)
    }
    return arranged + others
  }

  private static func isName(_ words: ArraySlice<String>) -> Bool {
    TypeWords.types(words.joined(separator: " "), held: []).count == 1
  }
}
