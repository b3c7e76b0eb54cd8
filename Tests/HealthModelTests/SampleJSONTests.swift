import Foundation
import HealthModel
import Testing

@Suite struct SampleJSONTests {
  private static let instant = Timestamp(microseconds: 1_718_440_200_123_456)

  private static func sample(_ payload: Payload, metadata: Metadata = [:]) -> Sample {
    Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: instant,
      end: Timestamp(seconds: 1_718_440_300), created: instant,
      source: Source(name: "Nam\u{2019}s\u{A0}Apple Watch 😴", bundleIdentifier: "com.apple.health", version: "10.1"),
      device: Device(name: "Apple Watch", hardwareVersion: "Watch6,2", text: ""), metadata: metadata, payload: payload)
  }

  private static let payloads: [Payload] = [
    .quantity(Quantity(72.5, "count/min")), .quantity(Quantity(.infinity, "")), .quantity(Quantity(-.infinity, "😴")),
    .quantity(Quantity(9.94194e-05, "m")), .quantity(Quantity(.leastNonzeroMagnitude, "m")),
    .quantity(Quantity(.greatestFiniteMagnitude, "m")),
    .category(CategoryValue(value: 3)), .category(CategoryValue(value: nil)),
    .category(CategoryValue(value: nil, name: "")),
    .category(CategoryValue(value: .min, name: "HKCategoryValueOfTomorrow 😴")),
    .correlation(Correlation(members: [])),
    .correlation(Correlation(members: [SampleReference(type: SampleType("x"), start: instant, uuid: UUID())])),
    .workout(Workout(activityType: .value(37))),
    .workout(
      Workout(
        activityType: .name("HKWorkoutActivityTypeOfTomorrow"), duration: -.infinity,
        totals: ["totalDistance": Quantity(5, "km"), "": Quantity(0, "")],
        statistics: [
          WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierHeartRate"), average: .infinity, unit: ""),
          WorkoutStatistics(
            type: SampleType(""), start: instant, end: instant, average: 1, minimum: 2, maximum: 3, sum: 4, unit: "kcal"
          ),
        ],
        events: [
          WorkoutEvent(type: "", date: instant),
          WorkoutEvent(type: "x", date: instant, duration: 3, metadata: ["a": "b"]),
        ],
        activities: [
          WorkoutActivity(uuid: "not a UUID", start: instant),
          WorkoutActivity(
            uuid: "", start: instant, end: instant, duration: 1, metadata: ["😴": .bool(true)],
            statistics: [WorkoutStatistics(type: SampleType("y"))], events: [WorkoutEvent(type: "z", date: instant)]),
        ])),
    .activitySummary(ActivitySummary(date: "2017-09-25", attributes: ["activeEnergyBurned": "301.5", "": ""])),
    .characteristic(CharacteristicValue(value: "HKBiologicalSexFemale")),
    .unknown(
      kind: "stateOfMind",
      content: .object([
        "valence": .number(0.5), "labels": .array([.string("😴"), .null, .bool(false)]), "n": .integer(.min),
        "o": .object([:]),
      ])),
    .unknown(kind: "", content: .null),
  ]

  private func roundTrip(_ sample: Sample) throws -> Sample {
    try JSONDecoder().decode(Sample.self, from: try JSONEncoder().encode(sample))
  }

  @Test(arguments: payloads)
  func everyPayloadSurvives(payload: Payload) throws {
    let sample = Self.sample(payload)
    #expect(try roundTrip(sample) == sample)
  }

  @Test func notANumberSurvives() throws {
    let read = try roundTrip(Self.sample(.quantity(Quantity(.nan, "m"))))
    guard case .quantity(let quantity) = read.payload else {
      Issue.record("the kind changed")
      return
    }
    #expect(quantity.value.isNaN)
  }

  @Test func everyMetadataValueKeepsItsKind() throws {
    let metadata: Metadata = [
      "text": "1", "empty": "", "integer": .integer(1), "large": .integer(.max), "number": .number(1),
      "fraction": .number(0.1),
      "infinite": .number(-.infinity), "yes": .bool(true), "no": .bool(false), "date": .date(Self.instant), "😴": "😴",
    ]
    let sample = Self.sample(.category(CategoryValue(value: 0)), metadata: metadata)
    #expect(try roundTrip(sample).metadata == metadata)
  }

  @Test func theLeastSampleSurvives() throws {
    let sample = Sample(
      uuid: UUID(), type: SampleType(""), start: Timestamp(microseconds: .min), end: Timestamp(microseconds: .max),
      source: Source(name: ""), payload: .quantity(Quantity(0, "")))
    #expect(try roundTrip(sample) == sample)
  }

  @Test(arguments: [
    "{}", #"{"kind":"quantity"}"#, "[]", "null",
    #"{"uuid":"x","type":"t","start":"2024-01-01","end":"2024-01-01","source":{"name":"s"},"kind":"tomorrow"}"#,
    #"{"uuid":"6B29FC40-CA47-1067-B31D-00DD010662DA","type":"t","start":"now","end":"2024-01-01","#
      + #""source":{"name":"s"},"kind":"c"}"#,
  ])
  func refusesWhatIsNoSample(json: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Sample.self, from: Data(json.utf8)) }
  }

  @Test func aKindOfTomorrowIsKeptAsItIs() throws {
    let json = #"""
      {"uuid":"6B29FC40-CA47-1067-B31D-00DD010662DA","type":"t","start":"2024-01-01T00:00:00Z",
       "end":"2024-01-01T00:00:00Z",
       "source":{"name":"s"},"kind":"tomorrow","payload":{"a":[1,2.5,"x",null,true]}}
      """#
    let sample = try JSONDecoder().decode(Sample.self, from: Data(json.utf8))
    let content = JSONValue.object(["a": .array([.integer(1), .number(2.5), .string("x"), .null, .bool(true)])])
    #expect(sample.payload == .unknown(kind: "tomorrow", content: content))
    #expect(try roundTrip(sample) == sample)
  }

  @Test(arguments: [
    "-92243720368547758.008", "1.0", "1e3", "-0.0", "9007199254740993.5", "9223372036854775808", "1e300",
  ])
  func anUnknownNumberIsTheSameAfterTheFirstReading(text: String) throws {
    let first = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    let again = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(first))
    #expect(again == first)
  }
}
