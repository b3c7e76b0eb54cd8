import HealthModel
import HealthStore

/// The sleep that apps reported: single stages, whose sources rank below all others, and totals of nights.
struct SleepReadings {
  struct Stage {
    var start: Int64
    var end: Int64
    var stage: SleepStage
    var source: String
  }

  /// The stages in order of their starts.
  private(set) var stages: [Stage] = []
  /// The nights as apps reported them, with the local midnight or noon of their date.
  private var nights: [(night: SleepReading.Night, date: Timestamp, source: String)] = []

  /// Reads the sleep readings of some types.
  ///
  /// - Parameters:
  ///   - range: in microseconds since 1970.
  ///   - sources: the names of sources; `nil` for all.
  init(_ types: [SampleType], in range: Range<Int64>, from sources: Set<String>?, _ reader: NumberReader) throws {
    for type in types {
      try reader.forEachReading(
        type, overlapping: range, from: sources, noLongerThan: SleepSessions.longest
      ) { reading in
        try add(reading, type)
      }
    }
    stages.sort { ($0.start, $0.end, $0.source) < ($1.start, $1.end, $1.source) }
  }

  private mutating func add(_ reading: NumberReader.Reading, _ type: SampleType) throws {
    let times = Timestamp(microseconds: reading.start)...Timestamp(microseconds: max(reading.start, reading.end))
    let members = AppReading.members(of: reading.content) ?? [:]
    var stage: String?
    if let metadata = reading.metadata, metadata.contains("hae.value"),
      case .string(let text)? = AppReading.members(of: metadata)?["hae.value"]
    {
      stage = text
    }
    guard
      let said = SleepReading(
        type, value: reading.value, unit: reading.unit, stage: stage, members: members, times: times)
    else { return }
    switch said {
    case .stage(let raw):
      guard let stage = SleepStage(rawValue: raw) else { return }
      stages.append(Stage(start: reading.start, end: reading.end, stage: stage, source: reading.source))
    case .night(let night): nights.append((night, times.lowerBound, reading.source))
    }
  }

  /// Returns the nights with totals from apps in the place of those for which samples are missing or show at least an
  /// hour less.
  func overlaid(on nights: [Night], in zone: ZoneRules) -> [Night] {
    var byDay = Dictionary(nights.map { ($0.day, $0) }, uniquingKeysWith: { $1 })
    for one in self.nights.sorted(by: { $0.night.asleep < $1.night.asleep }) {
      let night = one.night
      let day = zone.dayNumber(at: (night.times?.upperBound ?? one.date).seconds)
      let session = Self.session(night, one.date, one.source)
      guard let known = byDay[day] else {
        byDay[day] = Night(day: day, main: session, naps: [])
        continue
      }
      // Keep what samples show for other times of the day.
      let sessions = ([known.main] + known.naps).filter { $0.stated == nil }
      let same = sessions.filter { Self.overlap($0, session) }
      let others = sessions.filter { !Self.overlap($0, session) }
      let measured = same.compactMap(\.asleep).reduce(0, +)
      let stated = ([known.main] + known.naps).filter { $0.stated != nil }.compactMap(\.asleep).reduce(0, +)
      let needed = same.isEmpty ? 0 : Double(SleepSessions.shortestAddition) / 1_000_000
      guard night.asleep > stated, night.asleep >= measured + needed else { continue }
      // The longest session is the night, regardless of its source.
      let all = (others + [session]).sorted { $0.start < $1.start }
      let main = all.max { ($0.asleep ?? 0) < ($1.asleep ?? 0) } ?? session
      byDay[day] = Night(day: day, main: main, naps: all.filter { $0 != main })
    }
    return byDay.values.sorted { $0.day < $1.day }
  }

  private static func overlap(_ nap: SleepSession, _ night: SleepSession) -> Bool {
    // The total of a night without times covers all sleep of the day.
    guard let times = night.stated?.times else { return true }
    return nap.start < times.upperBound && times.lowerBound < nap.end
  }

  private static func session(_ night: SleepReading.Night, _ date: Timestamp, _ source: String) -> SleepSession {
    var durations: [SleepStage: Double] = [
      .asleepCore: night.core, .asleepDeep: night.deep, .asleepREM: night.rem, .awake: night.awake,
      .asleepUnspecified: max(0, night.asleep - night.core - night.deep - night.rem),
    ]
    durations[.inBed] = max(night.inBed, night.asleep + night.awake)
    let (start, end) = (night.times?.lowerBound ?? date, night.times?.upperBound ?? date)
    return SleepSession(
      start: start, end: end, source: source, segments: [], inBed: start < end ? [start..<end] : [],
      stated: StatedSleep(durations: durations, times: night.times))
  }
}
