import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests with the vectors S1 to S11.
@Suite struct SleepTests {
  private enum From: Int {
    case watch, phone, app
  }

  private struct Entry {
    var rank: Int
    var stage: SleepStage
    var start: Int64
    var end: Int64
  }

  /// - Parameter start: A time such as `23:30`, which after noon is on the evening before 15 June, or a day of June
  /// and a time, such as `14 23:30`.
  private static func sleep(_ from: From, _ stage: SleepStage, _ start: String, _ end: String) throws -> Entry {
    let instants = try [start, end].map { text in
      if let instant = Timestamp(iso8601: text), text.contains("T") { return instant.microseconds }
      let parts = text.split(separator: " ")
      let isEvening = parts.count == 1 && text >= "18:00"
      let day = parts.count == 2 ? String(parts[0]) : isEvening ? "14" : "15"
      return try #require(Timestamp(iso8601: "2024-06-\(day)T\(parts[parts.count - 1]):00+02:00")).microseconds
    }
    return Entry(rank: from.rawValue, stage: stage, start: instants[0], end: instants[1])
  }

  private static func sessions(_ entries: [Entry]) -> [SleepSession] {
    var sessions = SleepSessions(names: ["watch", "phone", "app"])
    for entry in entries.sorted(by: { $0.start < $1.start }) {
      sessions.add(start: entry.start, end: entry.end, stage: entry.stage, rank: entry.rank)
    }
    return sessions.finish()
  }

  private static func nights(_ entries: [Entry]) throws -> [Night] {
    try SleepQuery(in: ZoneRules(named: "Europe/Berlin")).nights(of: sessions(entries))
  }

  private static func minutes(_ session: SleepSession, _ stage: SleepStage) -> Double {
    session.duration(of: stage) / 60
  }

  private static func watchOfS1() throws -> [Entry] {
    try [
      sleep(.watch, .asleepCore, "00:00", "01:00"), sleep(.watch, .asleepDeep, "01:00", "02:00"),
      sleep(.watch, .awake, "02:00", "02:10"), sleep(.watch, .asleepREM, "02:10", "03:00"),
      sleep(.watch, .asleepCore, "03:00", "06:30"),
    ]
  }

  @Test func S1() throws {
    let sessions = try Self.sessions(
      Self.watchOfS1() + [
        Self.sleep(.phone, .inBed, "23:30", "07:00"), Self.sleep(.app, .asleepUnspecified, "23:45", "06:45"),
      ])
    let session = try #require(sessions.first)
    #expect(sessions.count == 1 && session.source == "watch")
    #expect(session.asleep == 380.0 * 60)
    #expect(
      [.awake, .asleepCore, .asleepDeep, .asleepREM, .inBed, .asleepUnspecified].map { Self.minutes(session, $0) }
        == [10, 270, 60, 50, 450, 0])
    #expect(session.start == Timestamp(iso8601: "2024-06-14T23:30:00+02:00"))
    #expect(session.end == Timestamp(iso8601: "2024-06-15T07:00:00+02:00"))
    #expect(session.latency == 1800)
    #expect(session.efficiency == 380.0 / 450)
    #expect(session.midpoint == Timestamp(iso8601: "2024-06-15T03:15:00+02:00"))
  }

  @Test func S2() throws {
    let session = try #require(
      Self.sessions(try Self.watchOfS1() + [Self.sleep(.watch, .asleepUnspecified, "00:00", "06:30")]).first)
    #expect(session.asleep == 380.0 * 60)
    #expect(Self.minutes(session, .inBed) == 390)
    #expect(session.latency == nil)
  }

  @Test func S3() throws {
    let session = try #require(
      Self.sessions([
        try Self.sleep(.watch, .asleepCore, "00:00", "03:00"), try Self.sleep(.watch, .asleepDeep, "00:30", "01:00"),
      ]).first)
    #expect(session.asleep == 180.0 * 60)
    #expect([.asleepCore, .asleepDeep].map { Self.minutes(session, $0) } == [150, 30])
  }

  @Test func S4() throws {
    let session = try #require(
      Self.sessions([
        try Self.sleep(.watch, .asleepCore, "23:00", "02:00"), try Self.sleep(.phone, .inBed, "22:50", "07:00"),
        try Self.sleep(.app, .asleepUnspecified, "23:10", "06:50"),
      ]).first)
    #expect(session.asleep == 470.0 * 60)
    #expect([.asleepCore, .asleepUnspecified, .inBed].map { Self.minutes(session, $0) } == [180, 290, 490])
  }

  @Test func S5() throws {
    let nights = try Self.nights([
      Self.sleep(.watch, .asleepCore, "00:00", "06:00"), Self.sleep(.watch, .asleepCore, "15 14:00", "15 14:40"),
      Self.sleep(.watch, .asleepCore, "15 23:00", "16 07:00"),
    ])
    let (asleep, naps): ([Double?], [[Double?]]) = ([21_600, 28_800], [[2_400], []])
    #expect(nights.map(\.main.asleep) == asleep)
    #expect(nights.map { $0.naps.map(\.asleep) } == naps)
    let days = try ["2024-06-15", "2024-06-16"].map(ZoneRulesTests.number)
    #expect(nights.map(\.day) == days)
  }

  @Test func S6() throws {
    let session = try #require(Self.sessions([try Self.sleep(.phone, .inBed, "22:00", "06:00")]).first)
    #expect(session.asleep == nil && session.onset == nil && session.efficiency == nil && session.source == nil)
    #expect(Self.minutes(session, .inBed) == 480)
  }

  @Test func S7() throws {
    let sessions = Self.sessions([
      try Self.sleep(.watch, .asleepCore, "23:00", "02:00"), try Self.sleep(.watch, .asleepCore, "03:00", "06:00"),
    ])
    #expect(sessions.map(\.asleep) == [360.0 * 60])
    #expect(Self.minutes(sessions[0], .inBed) == 360 && sessions[0].segments.count == 2)
  }

  @Test func S8() throws {
    let night = try #require(
      Self.nights([
        Self.sleep(.watch, .asleepCore, "23:00", "02:00"), Self.sleep(.watch, .asleepCore, "03:01", "06:00"),
      ]).first)
    #expect(night.main.asleep == 359 * 60 && night.main.unknown == 61 * 60 && night.naps.isEmpty)
  }

  @Test func S10() throws {
    let nights = try Self.nights([
      Self.sleep(.watch, .asleepCore, "22:00", "00:20"), Self.sleep(.watch, .asleepCore, "01:30", "04:00"),
      Self.sleep(.watch, .asleepCore, "05:10", "07:40"),
    ])
    let main = try #require(nights.first).main
    #expect(nights.count == 1 && nights[0].naps.isEmpty)
    #expect(main.asleep == 440 * 60 && main.unknown == 140 * 60)
    #expect(main.onset == Timestamp(iso8601: "2024-06-14T22:00:00+02:00"))
    #expect(main.wake == Timestamp(iso8601: "2024-06-15T07:40:00+02:00"))
    #expect(main.segments.count == 3 && main.source == "watch")
  }

  @Test func S11() throws {
    let night = try #require(
      Self.nights([
        Self.sleep(.watch, .asleepCore, "19:30", "20:10"), Self.sleep(.watch, .asleepCore, "23:15", "06:45"),
      ]).first)
    #expect(night.main.asleep == 450 * 60 && night.asleep == 490 * 60)
    #expect(night.naps.map(\.asleep) == [Double(40 * 60)])
  }

  @Test func S9() throws {
    let nights = try Self.nights([
      Self.sleep(.watch, .asleepCore, "2024-10-26T23:00:00+02:00", "2024-10-27T07:00:00+01:00")
    ])
    #expect(nights.map(\.main.asleep) == [540.0 * 60])
  }

  @Test func aSourceWithStagesTellsThemThoughAnotherRanksHigher() throws {
    let session = try #require(
      Self.sessions([
        try Self.sleep(.watch, .asleepUnspecified, "23:00", "06:00"),
        try Self.sleep(.app, .asleepDeep, "23:30", "05:50"),
      ]).first)
    #expect(session.source == "app")
    // Thirty minutes and ten are another opinion, and no part of the night that nobody told.
    #expect(session.asleep == 380.0 * 60)
  }

  @Test func aFringeOfAnHourIsTaken() throws {
    let session = try #require(
      Self.sessions([
        try Self.sleep(.watch, .asleepUnspecified, "23:00", "06:59"),
        try Self.sleep(.app, .asleepDeep, "00:00", "06:00"),
      ]).first)
    #expect([.asleepUnspecified, .asleepDeep].map { Self.minutes(session, $0) } == [60, 360])
  }

  @Test func awakeHoldsBeforeAnyKindOfSleep() throws {
    let all: [SleepStage] = [.asleepUnspecified, .asleepCore, .asleepREM, .asleepDeep, .awake]
    let entries = try all.enumerated().map { number, stage in
      try Self.sleep(.watch, stage, "0\(number):00", "06:00")
    }
    let session = try #require(Self.sessions(entries.reversed()).first)
    #expect(session.segments.map(\.stage) == all)
    #expect(all.map { Self.minutes(session, $0) } == [60, 60, 60, 60, 120])
  }

  @Test func nightsOfAStore() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let entries = try Self.watchOfS1()
    try await store.apply(
      ChangeBatch(
        additions: entries.map { entry in
          Sample(
            uuid: UUID(), type: SleepQuery.type, start: Timestamp(microseconds: entry.start),
            end: Timestamp(microseconds: entry.end), source: Source(name: "Watch"),
            payload: .category(CategoryValue(value: Int64(entry.stage.rawValue))))
        }
          + [
            Sample(
              uuid: UUID(), type: SleepQuery.type, start: Timestamp(microseconds: entries[0].start),
              end: Timestamp(microseconds: entries[0].end), source: Source(name: "Watch"),
              payload: .category(CategoryValue(value: 99)))
          ]))
    var query = SleepQuery(in: try ZoneRules(named: "Europe/Berlin"))
    let day = try ZoneRulesTests.number(of: "2024-06-15")
    (query.firstDay, query.lastDay) = (day, day)
    let nights = try await query.run(on: store)
    #expect(nights.map(\.main.asleep) == [380.0 * 60])
    #expect(nights.map(\.main.source) == ["Watch"])
    query.firstDay = day + 1
    #expect(try await query.run(on: store).isEmpty)
  }
}
