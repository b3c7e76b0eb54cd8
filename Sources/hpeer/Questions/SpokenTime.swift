import ArgumentParser
import Foundation
import HealthAnalysis
import HealthModel

/// The value of `--on`: days as people name them.
struct PeriodArgument: ExpressibleByArgument {
  let period: SpokenPeriod

  init?(argument: String) {
    guard let period = SpokenPeriod(argument, slashes: TimeLocale.current.slashes), period.isWholeDays else {
      return nil
    }
    self.period = period
  }

  func bounds(in zone: TimeZone, now: Timestamp) -> (start: DateBound, end: DateBound) {
    period.bounds(in: zone, now: now, weekStartsOnSunday: TimeLocale.current.weekStartsOnSunday)
  }
}

/// The date and week conventions of this machine's locale, as far as the environment says it (`locale(7)`).
struct TimeLocale {
  static let current = TimeLocale(ProcessInfo.processInfo.environment)

  /// The order of dates with slashes; `nil` if the environment does not say it.
  let slashes: SpokenPeriod.SlashOrder?
  let weekStartsOnSunday: Bool

  init(_ environment: [String: String]) {
    let name = ["LC_ALL", "LC_TIME", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    let locale = name.map { Locale(identifier: String($0.prefix { $0 != "." })) }
    guard let locale, let region = locale.region?.identifier else {
      (slashes, weekStartsOnSunday) = (nil, false)
      return
    }
    slashes = Self.monthFirst.contains(region) ? .month : .day
    weekStartsOnSunday = locale.firstDayOfWeek == .sunday
  }

  /// Regions whose short dates begin with the month (Unicode CLDR).
  private static let monthFirst: Set = ["US", "PH", "PW", "FM", "MH", "AS", "GU", "MP", "PR", "UM", "VI"]
}

/// The rewriting of words of time into options for the parser: `hpeer sleep last week`, `hpeer stats steps by month
/// this year`.
enum SpokenTime {
  /// The commands that ask about a period of time.
  private static let commands: Set = [
    "audit", "audit show", "chart", "coverage", "export", "latest", "report", "show", "sleep", "stats", "summary",
    "workouts",
  ]
  private static let dividing: Set = ["chart", "sleep", "stats"]
  /// The number of words in the longest period.
  private static let longest = 3

  /// Returns the words with words of time replaced by options.
  ///
  /// - Parameter words: The words after the command.
  static func arranged(_ words: [String], of command: String) -> [String] {
    guard commands.contains(command) else { return words }
    var words = words
    if dividing.contains(command), let place = by(words) {
      words.replaceSubrange(place...place + 1, with: ["--by", words[place + 1]])
    }
    if command == "stats" { words = versus(words) }
    guard let range = period(words) else { return words }
    let text = words[range].joined(separator: " ")
    words.removeSubrange(range)
    return words + ["--on", text]
  }

  private static func by(_ words: [String]) -> Int? {
    words.indices.dropLast().first { index in
      words[index] == "by" && BucketSize(rawValue: words[index + 1]) != nil && isFree(index, words)
    }
  }

  /// Returns the words with `vs last month`, or short `vs last`, replaced by `--versus`.
  private static func versus(_ words: [String]) -> [String] {
    guard let place = words.firstIndex(where: { ["vs", "vs.", "versus"].contains($0.lowercased()) }),
      place > 0, isFree(place, words)
    else { return words }
    for count in stride(from: min(longest, words.count - place - 1), through: 1, by: -1) {
      let range = place + 1...place + count
      var text = words[range].joined(separator: " ")
      // The word before `vs` says which period `last` is.
      if ["last", "previous"].contains(text) { text = "last \(words[place - 1])" }
      guard PeriodArgument(argument: text) != nil else { continue }
      var words = words
      words.removeSubrange(place...range.upperBound)
      return words + ["--versus", text]
    }
    return words
  }

  private static func period(_ words: [String]) -> Range<Int>? {
    let options = ["--on", "--from", "--since", "--to", "--until", "--"]
    // A person who uses options gives the time with them.
    guard !words.contains(where: { word in options.contains { word == $0 || word.hasPrefix($0 + "=") } }) else {
      return nil
    }
    for count in stride(from: min(longest, words.count), through: 1, by: -1) {
      for start in 0...(words.count - count) where isFree(start, words) {
        let run = words[start..<start + count]
        if !run.contains(where: { $0.hasPrefix("-") }), PeriodArgument(argument: run.joined(separator: " ")) != nil {
          return start..<start + count
        }
      }
    }
    return nil
  }

  /// The options without a value of commands that take words of time.
  private static let flags: Set = [
    "--all", "--csv", "--follow", "--force", "--json", "--no-readings", "--raw", "--strict", "--utc", "--zeros",
  ]

  /// Returns whether a word is not the value of an option before it.
  private static func isFree(_ index: Int, _ words: [String]) -> Bool {
    index == 0 || !words[index - 1].hasPrefix("-") || words[index - 1].contains("=")
      || flags.contains(words[index - 1])
  }
}

/// The joining of type names that are several words, for the parser: `hpeer stats resting heart rate`.
enum SpokenTypes {
  /// The commands whose arguments are types.
  private static let commands: Set = ["chart", "coverage", "latest", "show", "sources", "stats"]
  /// The maximum number of words in a name.
  private static let longest = 5

  /// Returns the words with each type name joined into one.
  ///
  /// - Parameter words: The words after the command.
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
