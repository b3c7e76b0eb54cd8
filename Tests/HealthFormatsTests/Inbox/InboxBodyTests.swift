import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct InboxBodyTests {
  private let now = Timestamp(seconds: 1_780_000_000)

  private func body(
    _ text: String, aggregation: String? = nil, limits: InboxBody.Limits = .init()
  ) throws(InboxBodyError) -> InboxBody {
    try InboxBody(Array(text.utf8), aggregation: aggregation, limits: limits, now: now)
  }

  private func point(_ members: String) -> String {
    #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[{\#(members)}]}]}}"#
  }

  @Test("a number of HealthPush keeps its day and gets HealthKit's unit")
  func healthPush() throws {
    let found = try body(
      #"""
      {"timestamp":"2026-04-09T12:00:00.000Z","device_name":"HealthPush","metrics":[
      {"id":"A","type":"flights_climbed","value":"12","unit":"flights","start_date":"2026-04-09T00:00:00.000Z","end_date":"2026-04-10T00:00:00.000Z"},
      {"id":"B","type":"sleep","value":7.25,"unit":"hr","start_date":"2026-04-08T22:00:00.000Z","end_date":"2026-04-09T06:00:00.000Z"},
      {"id":"C","type":"steps","value":true,"unit":"steps","start_date":"2026-04-09T00:00:00.000Z"},
      {"id":"D","type":"steps","value":3,"unit":"steps","start_date":"today"}]}
      """#)
    #expect(found.format == .healthPush && found.count == 2)
    let flights = try #require(found.batches.first?.readings.first)
    #expect(flights.type.rawValue == "healthpush.flights_climbed")
    #expect(flights.payload == .quantity(Quantity(12, "count")))
    #expect(flights.metadata == ["hpeer.aggregation": .string("day")])
    #expect(flights.end.seconds - flights.start.seconds == 86_400)
    #expect(found.batches.first?.readings.last?.metadata == ["hpeer.aggregation": .string("night")])
    #expect(
      found.skipped.map(\.key).sorted() == [
        "steps: a metric without a number", "steps: a metric without a readable date",
      ])
  }

  @Test("a day of P247 is as long as it is where it was, and its readings are no newer than now")
  func dailySummary() throws {
    let found = try body(
      #"""
      {"data":[{"date":"2026-03-29","timezone":"Europe/Berlin","device_sync_timestamp":"2099-01-01T00:00:00Z",
      "metrics":{"step_count":8432,"dietary_energy_kj":2100,"hydration":3,"hrv":null},"sleep":{"total_hours":null},
      "workouts":[{"type":"Running","start":"2026-03-29T07:00:00+02:00","duration_seconds":1800},{"type":"Yoga"}]},
      {"date":"2026-03-30","timezone":"Nowhere/City"},{"date":"nonsense"}]}
      """#)
    #expect(found.format == .dailySummary)
    let readings = found.batches.flatMap(\.readings)
    #expect(
      readings.map(\.type.rawValue) == ["p247.dietary_energy_kj", "p247.hydration", "p247.step_count", "p247.workout"])
    // The clocks went forward in that night.
    #expect(readings[0].start == Timestamp(iso8601: "2026-03-28T23:00:00Z"))
    #expect(readings[0].end == Timestamp(iso8601: "2026-03-29T22:00:00Z"))
    #expect(readings[0].payload == .quantity(Quantity(2100, "kcal")))
    #expect(readings.allSatisfy { $0.created == now })
    #expect(readings[3].end.seconds - readings[3].start.seconds == 1800)
    #expect(found.skipped.values.reduce(0) { $0 + $1.count } == 3)
  }

  @Test("how Health Auto Export has summed up, it says beside the body; else its dates do")
  func aggregation() throws {
    func reading(_ word: String?) throws -> Sample? {
      let text = point(#""qty":120,"date":"2024-06-15 00:00:00 +0000""#)
      return try body(text, aggregation: word).batches.first?.readings.first
    }
    #expect(try reading("Hours").map { $0.end.seconds - $0.start.seconds } == 3600)
    #expect(try reading("Days").map { $0.end.seconds - $0.start.seconds } == 86_400)
    #expect(try reading(nil).map { $0.end.seconds - $0.start.seconds } == 86_400)
    #expect(try reading("Fortnights").map { $0.end.seconds - $0.start.seconds } == 86_400)
    // Not summed up at all: a sample, which nothing replaces.
    #expect(try reading("None") == nil)
    // A later body's readings count, whatever dates it has.
    #expect(try reading("Days")?.created == now)
  }

  @Test("what would take far more memory than its text is refused before it is read")
  func budgets() throws {
    var limits = InboxBody.Limits()
    limits.values = 1000
    let crowded = point(#""qty":1,"date":"2024-06-15 00:00:00 +0000","x":[\#(String(repeating: "0,", count: 1000))0]"#)
    #expect(throws: InboxBodyError.tooManyValues(limit: 1000)) { try body(crowded, limits: limits) }
    // Commas in a text are none.
    let text = point(#""qty":1,"date":"2024-06-15 00:00:00 +0000","x":"\#(String(repeating: ",", count: 1500))""#)
    #expect(try body(text, limits: limits).count == 1)
    limits = InboxBody.Limits()
    limits.alike = 3
    let same = (0..<4).map { #"{"qty":\#($0),"date":"2024-06-15 00:00:00 +0000","source":"\#($0)"}"# }
    let alike =
      #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[\#(same.joined(separator: ","))]}]}}"#
    #expect(throws: InboxBodyError.tooManyAlike(limit: 3)) { try body(alike, limits: limits) }
    let named = (0..<10_000).map {
      #"{"name":"n\#($0)","units":"count","data":[{"qty":1,"date":"2024-06-15 00:00:00 +0000"}]}"#
    }
    let manyNames = #"{"data":{"metrics":[\#(named.joined(separator: ","))]}}"#
    #expect(throws: InboxBodyError.tooManyNames(limit: 2_000)) { try body(manyNames) }
    #expect(throws: InboxBodyError.self) { try body(String(repeating: "[", count: 100_000)) }
  }

  @Test(
    "what the first sample lacks is said, and costs no other",
    arguments: ["id", "type", "startDate", "endDate", "sourceName"])
  func firstSample(lacking member: String) throws {
    func sample(_ number: Int, without left: String? = nil) -> String {
      let members = [
        ("id", "B3F1C2A4-1111-4222-8333-00000000000\(number)"), ("type", "heartRate"),
        ("startDate", "2024-06-15T10:30:00Z"), ("endDate", "2024-06-15T10:30:00Z"), ("sourceName", "Watch"),
      ]
      let texts = members.filter { $0.0 != left }.map { #""\#($0.0)":"\#($0.1)""# }
      return "{\(texts.joined(separator: ",")),\"unit\":\"count/min\",\"value\":62}"
    }
    let reason = "HealthAppTransfer: a sample whose \(member) is missing or cannot be read"
    let alone = try body("[\(sample(1, without: member))]")
    #expect(alone.format == .healthAppTransfer && alone.count == 0 && alone.skipped[reason]?.count == 1)
    for text in [
      "[\(sample(1, without: member)),\(sample(2))]",
      #"{"data":{"typeOfTomorrow":[\#(sample(1, without: member))],"heartRate":[\#(sample(2))]}}"#,
    ] {
      let found = try body(text)
      #expect(found.format == .healthAppTransfer && found.count == 1, "\(text)")
      #expect(found.skipped[reason]?.count == 1, "\(text)")
    }
  }

  @Test("what is no body of an app's is none, also where an import would take it")
  func others() throws {
    for text in [
      #"{"format":"hpeer","version":1,"samples":[]}"#, #"{"resourceType":"Bundle","entry":[]}"#, #"{"added":{}}"#,
      "<HealthData/>", "{}", "[1]", "true", #"{"metrics":[]}"#,
    ] {
      #expect(throws: InboxBodyError.unknownFormat, "\(text)") { try body(text) }
    }
    #expect(throws: InboxBodyError.empty) { try body(" \n") }
    #expect(try body(#"{"data":{}}"#).count == 0)
    #expect(try body("[]").format == .healthAppTransfer)
  }

  @Test("a scope means HealthKit's types by an app's names too")
  func scope() throws {
    var found = try body(point(#""qty":120,"date":"2024-06-15 00:00:00 +0000""#))
    #expect(found.keep([SampleType("HKQuantityTypeIdentifierStepCount")]) == 0)
    #expect(found.keep([SampleType("hae.step_count")]) == 0)
    #expect(found.names == ["type hae.step_count", "source Health Auto Export\u{1F}\u{1F}", "unit count"])
    #expect(found.keep([SampleType("HKQuantityTypeIdentifierHeartRate")]) == 1)
    #expect(found.count == 0 && found.skipped.count == 1)
  }

  /// Returns a letter with a number of combining marks, which is a single character in Swift.
  private func smeared(_ marks: Int) -> String { "a" + String(repeating: "\u{301}", count: marks) }

  @Test("of a name of one endless character little is said, and a longer one than any is refused")
  func endlessCharacters() throws {
    func metric(_ name: String) -> String {
      #"{"data":{"metrics":[{"name":"\#(name)","units":"count","data":[{"qty":1,"date":"2024-06-15 00:00:00 +0000"}]}]}}"#
    }
    var found = try body(metric(smeared(500)))
    #expect(found.keep([SampleType("HKQuantityTypeIdentifierStepCount")]) == 1)
    #expect(found.skipped.keys.allSatisfy { $0.utf8.count < 200 })
    let limit = InboxBody.Limits().nameBytes
    #expect(throws: InboxBodyError.nameTooLong(limit: limit)) { try body(metric(smeared(1_500))) }
  }

  @Test("two spellings of one name are two, as they are to a store")
  func spellings() throws {
    let points = ["caf\u{e9}", "cafe\u{301}"].map {
      #"{"name":"\#($0)","units":"count","data":[{"qty":1,"date":"2024-06-15 00:00:00 +0000"}]}"#
    }
    let text = #"{"data":{"metrics":[\#(points.joined(separator: ","))]}}"#
    #expect(try body(text).names.count { $0.hasPrefix("type ") } == 2)
    var limits = InboxBody.Limits()
    limits.names = 3
    #expect(throws: InboxBodyError.tooManyNames(limit: 3)) { try body(text, limits: limits) }
  }
}
