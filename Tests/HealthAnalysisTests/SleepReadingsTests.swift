import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests of nights that apps have sent, with and without samples.
@Suite("Nights of apps") struct SleepReadingsTests {
  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let zone: ZoneRules

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    store = try HealthStore(directory: directory.path)
    zone = try ZoneRules(named: "Europe/Berlin")
  }

  private func at(_ text: String) throws -> Timestamp { try #require(Timestamp(iso8601: text)) }

  private func night(
    _ type: String = "hae.sleep_analysis", on date: String, _ members: [String: JSONValue], app: String = "Watch"
  ) throws -> Sample {
    Sample(
      uuid: UUID(), type: SampleType(type), start: try at("\(date)T00:00:00+01:00"),
      end: try at("\(date)T00:00:00+01:00"), source: Source(name: app),
      metadata: ["hpeer.aggregation": .string("night")], payload: .foreign("healthAutoExport", .object(members)))
  }

  private static let members: [String: JSONValue] = [
    "sleepStart": .string("2026-01-09 11:00:00 pm +0100"), "sleepEnd": .string("2026-01-10 07:00:00 +0100"),
    "asleep": .integer(0), "totalSleep": .number(7.5), "core": .integer(4), "deep": .integer(1), "rem": .integer(2),
    "awake": .number(0.5), "inBed": .integer(0), "units": .string("hr"),
  ]

  private func asleep(_ hours: ClosedRange<Int>, _ stage: Int, source: String = "Watch") throws -> [Sample] {
    try (hours.lowerBound..<hours.upperBound).map { hour in
      Sample(
        uuid: UUID(), type: SleepQuery.type, start: try at("2026-01-10T0\(hour):00:00+01:00"),
        end: try at("2026-01-10T0\(hour + 1):00:00+01:00"), source: Source(name: source),
        payload: .category(CategoryValue(value: Int64(stage))))
    }
  }

  private func nights(isStrict: Bool = false) async throws -> [Night] {
    var query = SleepQuery(in: zone)
    query.hasReadings = !isStrict
    return try await query.run(on: store)
  }

  @Test("a night that was sent is the night of its date where no sample says anything")
  func alone() async throws {
    try await store.apply(ChangeBatch(additions: [try night(on: "2026-01-10", Self.members)]))
    let found = try #require(try await nights().first)
    #expect(
      try await nights().count == 1 && zone.date(Timestamp(seconds: zone.start(ofDay: found.day))) == "2026-01-10")
    let main = found.main
    #expect(found.asleep == 7.5 * 3_600 && main.duration(of: .asleepUnspecified) == 0.5 * 3_600)
    #expect([.asleepCore, .asleepDeep, .asleepREM, .awake].map(main.duration) == [14_400, 3_600, 7_200, 1_800])
    #expect(try main.onset == at("2026-01-09T23:00:00+01:00") && main.wake == at("2026-01-10T07:00:00+01:00"))
    #expect(main.segments.isEmpty && main.source == "Watch" && main.duration(of: .inBed) == 8 * 3_600)
    #expect(try await nights(isStrict: true).isEmpty)
  }

  @Test("samples tell the night, unless they say an hour less of it", arguments: [(0...7, false), (0...4, true)])
  func beside(hours: ClosedRange<Int>, isReading: Bool) async throws {
    try await store.apply(
      ChangeBatch(additions: try asleep(hours, 3) + [night(on: "2026-01-10", Self.members)]))
    let found = try await nights()
    #expect(found.count == 1)
    #expect((found.first?.main.stated != nil) == isReading)
    #expect(found.first?.asleep == (isReading ? 7.5 * 3_600 : Double(hours.count - 1) * 3_600))
  }

  @Test("what a watch recorded of another time is a nap beside an app's night")
  func nap() async throws {
    let day = (11..<13).map { hour in
      Sample(
        uuid: UUID(), type: SleepQuery.type, start: Timestamp(seconds: 1_768_003_200 + Int64(hour) * 3_600),
        end: Timestamp(seconds: 1_768_003_200 + Int64(hour + 1) * 3_600), source: Source(name: "Watch"),
        payload: .category(CategoryValue(value: 3)))
    }
    try await store.apply(ChangeBatch(additions: day + [try night(on: "2026-01-10", Self.members)]))
    let found = try #require(try await nights().first)
    #expect(found.main.stated != nil && found.naps.map(\.asleep) == [2 * 3_600] && found.asleep == 9.5 * 3_600)
  }

  @Test("of two apps the one that says more tells the night, once")
  func twice() async throws {
    var less = Self.members
    less["totalSleep"] = .integer(7)
    let page = try night(
      "p247.sleep", on: "2026-01-10", ["total_hours": .number(7.2), "core_hours": .number(4.1)], app: "P247")
    try await store.apply(
      ChangeBatch(additions: [
        try night(on: "2026-01-10", less, app: "Ring"), try night(on: "2026-01-10", Self.members), page,
      ]))
    #expect(try await nights().map(\.asleep) == [7.5 * 3_600])
    #expect(try await nights().first?.naps == [])
  }

  @Test("a night without times is one of its date")
  func dated() async throws {
    let page = try night("p247.sleep", on: "2026-01-10", ["total_hours": .number(6.7), "deep_hours": .number(1.2)])
    try await store.apply(ChangeBatch(additions: [page]))
    let found = try #require(try await nights().first)
    #expect(abs((found.asleep ?? 0) - 6.7 * 3_600) < 1e-6 && found.main.onset == nil && found.main.midpoint == nil)
  }

  @Test("stages that were sent one by one are those of the lowest source")
  func stages() async throws {
    func stage(_ name: String, _ start: Int) throws -> Sample {
      Sample(
        uuid: UUID(), type: SampleType("hae.sleep_analysis"), start: try at("2026-01-10T0\(start):00:00+01:00"),
        end: try at("2026-01-10T0\(start + 1):00:00+01:00"), source: Source(name: "Ring"),
        metadata: ["hae.value": .string(name)], payload: .quantity(Quantity(1, "hr")))
    }
    let sent = try [("Core", 1), ("REM", 2), ("Deep", 3), ("Awake", 4), ("Core", 5)].map(stage)
    try await store.apply(ChangeBatch(additions: sent))
    let alone = try #require(try await nights().first)
    #expect(alone.asleep == 4 * 3_600 && alone.main.duration(of: .asleepDeep) == 3_600)
    #expect(alone.main.source == "Ring" && alone.main.stated == nil)
    // A watch says all of it, and another thing.
    try await store.apply(ChangeBatch(additions: try asleep(1...6, 3)))
    let both = try #require(try await nights().first)
    #expect(both.asleep == 5 * 3_600 && both.main.source == "Watch")
    #expect(try await nights(isStrict: true).first?.asleep == 5 * 3_600)
  }

  @Test(
    "stages have their names in the languages of phones",
    arguments: [
      ["Wach", "Kern", "Tief", "REM"], ["Despierto", "Esencial", "Profundo", "REM"],
      ["Éveil", "Essentiel", "Profond", "Paradoxal"], ["Sveglio", "Essenziale", "Profondo", "REM"],
      ["Acordado", "Essencial", "Profundo", "REM"], ["Wakker", "Kern", "Diep", "REM"],
      ["Vaken", "Kärnsömn", "Djupsömn", "REM-sömn"], ["覚醒", "コア", "深い", "レム"], ["깨어 있음", "코어", "깊은 수면", "렘수면"],
      ["清醒", "核心", "深度", "快速动眼"],
    ])
  func languages(names: [String]) throws {
    let time = try at("2026-01-10T01:00:00+01:00")...at("2026-01-10T02:00:00+01:00")
    let stages = names.map {
      SleepReading(SampleType("hae.sleep_analysis"), value: 1, unit: "hr", stage: $0, members: [:], times: time)
    }
    #expect(stages == [.stage(2), .stage(3), .stage(4), .stage(5)])
  }

  @Test(
    "what no night can be is none",
    arguments: [
      ["totalSleep": .integer(0)], ["totalSleep": .integer(49)], ["totalSleep": .integer(-3)],
      ["totalSleep": .integer(7), "deep": .integer(-1)],
      [
        "totalSleep": .integer(40), "sleepStart": .string("2026-01-09 23:00:00 +0100"),
        "sleepEnd": .string("2026-01-10 07:00:00 +0100"),
      ], ["totalSleep": .string("7")],
      [
        "totalSleep": .integer(7), "sleepStart": .string("2025-01-09 23:00:00 +0100"),
        "sleepEnd": .string("2026-01-10 07:00:00 +0100"),
      ],
    ] as [[String: JSONValue]])
  func implausible(members: [String: JSONValue]) async throws {
    try await store.apply(ChangeBatch(additions: [try night(on: "2026-01-10", members)]))
    #expect(try await nights().isEmpty)
  }
}
