import HealthModel
import HealthStore

/// A question about sleep.
///
/// ```swift
/// func nights(in store: HealthStore) async throws {
///   let query = SleepQuery(in: try ZoneRules(named: "Europe/Berlin"))
///   for night in try await query.run(on: store) {
///     print(night.day, (night.main.asleep ?? 0) / 3600, "hours and", night.naps.count, "naps")
///   }
/// }
/// ```
///
/// What counts as a night is written down in `docs/reference/statistics.md`. It is computed from the samples each time.
public struct SleepQuery: Sendable {
  public static let type = SampleType("HKCategoryTypeIdentifierSleepAnalysis")

  /// Whose dates nights have.
  public var zone: ZoneRules
  /// Nights that ended on or after this date, in days since 1970-01-01; `nil` for all.
  public var firstDay: Int?
  /// Nights that ended on or before this date; `nil` for all.
  public var lastDay: Int?
  /// The names of sources whose samples count; `nil` for all. Their ranking is that of the whole store.
  public var sources: Set<String>?

  /// All nights.
  public init(in zone: ZoneRules) {
    self.zone = zone
  }

  /// In order of time. Throws ``StoreError``.
  public func run(on store: HealthStore) async throws -> [Night] {
    nights(of: try await store.samples.numbers { reader in try sessions(reader) })
  }

  private func sessions(_ reader: NumberReader) throws -> [SleepSession] {
    let ranking = try SourceRanking(of: Self.type, reader)
    var sessions = SleepSessions(names: ranking.sources.map(\.name))
    try reader.forEach(Self.type, overlapping: .min..<Int64.max, from: sources) { sample in
      guard let stage = Int(exactly: sample.value).flatMap(SleepStage.init(rawValue:)) else { return }
      sessions.add(
        start: sample.start, end: sample.end, stage: stage,
        rank: ranking.rank(of: sample.source, isUserEntered: sample.isUserEntered))
    }
    return sessions.finish()
  }

  /// By the date on which the last sleep of a session ended; of one without sleep, on which it ended.
  func nights(of sessions: [SleepSession]) -> [Night] {
    let days = Dictionary(grouping: sessions) { zone.dayNumber(at: ($0.wake ?? $0.end).seconds) }
    return days.sorted { $0.key < $1.key }.compactMap { day, sessions in
      if let firstDay, day < firstDay { return nil }
      if let lastDay, day > lastDay { return nil }
      // Of equal ones the longer in bed, and then the first.
      let main = sessions.indices.max { one, other in
        let (a, b) = (sessions[one], sessions[other])
        return (a.asleep ?? -1, a.duration(of: .inBed), -one) < (b.asleep ?? -1, b.duration(of: .inBed), -other)
      }
      guard let main else { return nil }
      var naps = sessions
      return Night(day: day, main: naps.remove(at: main), naps: naps)
    }
  }
}
