import Foundation
import HealthModel

/// A sleep log: its local start, its duration and its stages.
struct FitbitSleep {
  struct Stage: Equatable {
    var start: Int
    var end: Int
    /// A value of `HKCategoryValueSleepAnalysis`.
    var value: Int64
  }

  let log: Int64
  /// The start in local time, stored as if it were UTC.
  let start: Timestamp
  /// The duration in seconds: the log's whole minutes, or up to 59 seconds more if its stages last longer.
  let duration: Int
  private(set) var stages: [Stage] = []

  /// The maximum length of a sleep in seconds.
  private static let longest = 3 * 86_400
  private static let values: [String: Int64] = [
    "wake": 2, "awake": 2, "restless": 2, "asleep": 1, "light": 3, "deep": 4, "rem": 5,
  ]

  init?(_ log: [String: JSONValue]) {
    guard case .integer(let number)? = log["logId"], case .string(let text)? = log["startTime"],
      let start = FitbitTime.clock(text), let milliseconds = FitbitNumber.of(log["duration"], in: 1...259_200_000),
      case .object(let levels)? = log["levels"]
    else { return nil }
    (self.log, self.start) = (number, start)
    let base = Self.stages(levels["data"], from: start)
    // Short wakes overlay the stages, which continue beneath them.
    stages = Self.overlaid(base, by: Self.stages(levels["shortData"], from: start))
    let minutes = Int(milliseconds / 1000)
    let end = base.last?.end ?? 0
    duration = (minutes...minutes + 59).contains(end) ? end : minutes
    stages = stages.compactMap { stage in
      let end = min(stage.end, duration)
      return stage.start < end ? Stage(start: stage.start, end: end, value: stage.value) : nil
    }
  }

  private static func stages(_ list: JSONValue?, from start: Timestamp) -> [Stage] {
    guard case .array(let elements)? = list else { return [] }
    var stages: [Stage] = []
    for element in elements {
      guard case .object(let stage) = element, case .string(let text)? = stage["dateTime"],
        let time = FitbitTime.clock(text), case .string(let level)? = stage["level"], let value = values[level],
        let seconds = FitbitNumber.of(stage["seconds"], in: 1...Double(longest))
      else { continue }
      // All times of a log have the UTC offset of its start, even across a clock change.
      let offset = (time.microseconds - start.microseconds) / 1_000_000
      guard (0...Int64(longest)).contains(offset) else { continue }
      stages.append(Stage(start: Int(offset), end: Int(offset) + Int(seconds), value: value))
    }
    stages.sort { ($0.start, $0.end, $0.value) < ($1.start, $1.end, $1.value) }
    // Trims stages that overlap the next one.
    for index in stages.indices.dropLast() { stages[index].end = min(stages[index].end, stages[index + 1].start) }
    return stages.filter { $0.start < $0.end }
  }

  /// Returns stages in which short wakes replace the parts of the base stages that they overlap.
  ///
  /// - Parameters:
  ///   - base: stages in order, without overlaps.
  ///   - over: short wakes in order, without overlaps.
  private static func overlaid(_ base: [Stage], by over: [Stage]) -> [Stage] {
    var result: [Stage] = []
    func append(_ start: Int, _ end: Int, _ value: Int64) {
      if start >= end { return }
      if let last = result.last, last.value == value, last.end == start {
        result[result.count - 1].end = end
      } else {
        result.append(Stage(start: start, end: end, value: value))
      }
    }
    var next = 0
    for stage in base {
      var position = stage.start
      while next < over.count, over[next].start < stage.end {
        let short = over[next]
        append(position, max(position, short.start), stage.value)
        append(max(position, short.start), min(short.end, stage.end), short.value)
        position = max(position, min(short.end, stage.end))
        if short.end > stage.end { break }
        next += 1
      }
      append(position, stage.end, stage.value)
    }
    return result
  }
}

/// The sleep logs of an export, with the instants from `UserSleeps_*.csv`.
struct FitbitSleeps {
  /// A row of `UserSleeps_*.csv`, which states the instant of a sleep.
  private struct Row {
    var start: Timestamp
    /// The UTC offsets of the start and the end, in seconds.
    var offsets: [Int64]
  }

  /// The rows, keyed by the local time of their start in seconds.
  private var rows: [Int64: Row] = [:]
  private var logs: Set<Int64> = []

  /// The maximum number of rows: ten a day for a hundred years.
  private static let mostRows = 365_000

  mutating func add(userSleep row: [String: String]) {
    guard let start = row["sleep_start"].flatMap(FitbitTime.clock), rows.count < Self.mostRows else { return }
    let offsets = [row["start_utc_offset"], row["end_utc_offset"]].compactMap { $0.flatMap(Self.offset) }
    // A zero offset also stands for an unknown one.
    guard let first = offsets.first, first != 0 else { return }
    let found = Row(start: start, offsets: offsets)
    for offset in offsets { rows[start.seconds + offset] = found }
  }

  /// Returns the offset `-04:00` in seconds.
  private static func offset(_ text: String) -> Int64? {
    guard text.utf8.count == 6, let instant = Timestamp(iso8601: "2000-01-01T00:00:00" + text) else { return nil }
    return 946_684_800 - instant.seconds
  }

  /// Records a log and returns whether it is new.
  mutating func isNew(_ sleep: FitbitSleep) -> Bool { logs.insert(sleep.log).inserted }

  func samples(of sleep: FitbitSleep, in zone: TimeZone) -> [Sample] {
    let start = start(of: sleep, in: zone)
    let bed = FitbitSleep.Stage(start: 0, end: sleep.duration, value: 0)
    return ([bed] + sleep.stages).map { stage in
      let from = Timestamp(microseconds: start.microseconds + Int64(stage.start) * 1_000_000)
      let to = Timestamp(microseconds: start.microseconds + Int64(stage.end) * 1_000_000)
      return Sample(
        uuid: FitbitReader.identity(Self.type, FitbitReader.source, from, to, ordinal: Int(stage.value)),
        type: Self.type, start: from, end: to, source: FitbitReader.source,
        payload: .category(CategoryValue(value: stage.value)))
    }
  }

  private static let type = SampleType("HKCategoryTypeIdentifierSleepAnalysis")

  private func start(of sleep: FitbitSleep, in zone: TimeZone) -> Timestamp {
    if let row = rows[sleep.start.seconds] { return row.start }
    let seconds = Int(sleep.start.seconds)
    return zone.first(of: CivilTime(day: seconds / 86_400, second: seconds % 86_400))
  }
}
