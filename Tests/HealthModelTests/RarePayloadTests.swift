import Foundation
import HealthModel
import Testing

@Suite struct RarePayloadTests {
  private static let route = WorkoutRoute(
    workout: SampleReference(
      type: .workout, start: Timestamp(seconds: 1_718_440_200), uuid: SampleIdentity.namespace),
    path: "/workout-routes/a \"b\" \\ é.gpx",
    points: [
      RoutePoint(
        time: 0, latitude: 37.781672, longitude: -122.396397, elevation: 4.076904, speed: 0.180883, course: 206.252884,
        horizontalAccuracy: 8.063116, verticalAccuracy: 6.428697),
      RoutePoint(time: 1.5, latitude: 37, longitude: -122, course: -1),
    ])

  private func text(_ payload: Payload) throws -> String { try #require(try CodedPayload(payload).json) }

  @Test func pointsAreColumns() throws {
    #expect(
      try text(.workoutRoute(Self.route))
        == #"{"course":[206.252884,-1],"elevation":[4.076904,null],"horizontalAccuracy":[8.063116,null],"#
        + #""latitude":[37.781672,37],"longitude":[-122.396397,-122],"path":"/workout-routes/a \"b\" \\ é.gpx","#
        + #""speed":[0.180883,null],"time":[0,1.5],"verticalAccuracy":[6.428697,null],"workout":{"#
        + #""start":"2024-06-15T08:30:00Z","type":"HKWorkoutTypeIdentifier","#
        + #""uuid":"93FFB994-C387-57BA-B262-841D29FD581B"}}"#)
  }

  @Test func aColumnThatNoPointHasIsLeftOut() throws {
    let route = WorkoutRoute(points: [RoutePoint(latitude: 1, longitude: 2)])
    #expect(try text(.workoutRoute(route)) == #"{"latitude":[1],"longitude":[2]}"#)
    #expect(try text(.workoutRoute(WorkoutRoute())) == "{}")
  }

  /// The hand-written text equals the encoder's, and both readers can read it.
  @Test func byHandIsAsTheEncoderWrites() throws {
    var random = SystemRandomNumberGenerator()
    var numbers: [Double] = [
      0, -0.0, 1, -1, 1e15, 1e16, 1e17, 1e22, 1e300, .leastNonzeroMagnitude, 0.1 + 0.2, 1e-5, 123456.75, 1e-7,
    ]
    for _ in 0..<2000 {
      numbers.append(Double(Int.random(in: -180_000_000...180_000_000, using: &random)) / 1e6)
      numbers.append(Double.random(in: -1...1, using: &random))
    }
    let electrocardiogram = Electrocardiogram(classification: "Sinus", samplingFrequency: 512, voltages: numbers)
    let points = numbers.map { RoutePoint(time: $0, latitude: $0, longitude: 1) }
    let payloads: [(Payload, String)] = [
      (.electrocardiogram(electrocardiogram), try encoded(electrocardiogram)),
      (.workoutRoute(WorkoutRoute(points: points)), try encoded(WorkoutRoute(points: points))),
      (.workoutRoute(Self.route), try encoded(Self.route)),
    ]
    for (payload, encoded) in payloads {
      let text = try text(payload)
      #expect(text == encoded)
      #expect(try Payload(kind: payload.kind, number: nil, unit: nil, json: text) == payload)
      // Spaces are not what is written by hand: this is the decoder's answer.
      let spaced = text.replacingOccurrences(of: "{\"", with: "{ \"")
      #expect(try Payload(kind: payload.kind, number: nil, unit: nil, json: spaced) == payload)
    }
  }

  private func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test(arguments: [
    ("audiogram", #"{"attributes":{"x":"1"},"children":[{"element":"SensitivityPoint","attributes":{}}]}"#),
    ("visionPrescription", #"{"attributes":{}}"#), ("clinicalRecord", #"{"attributes":{"identifier":"6F1A"}}"#),
    ("audiogram", #"{"points":[{"frequency":{"value":1,"unit":"Hz"},"ofTomorrow":1}]}"#),
    ("clinicalRecord", #"{"identifier":"1","signature":"x"}"#), ("visionPrescription", #"{"lens":"x"}"#),
    ("electrocardiogram", #"{"voltages":[1],"leads":[]}"#), ("electrocardiogram", "{}"),
    ("electrocardiogram", #"{"voltages":[1,null]}"#), ("electrocardiogram", #"{"voltages":"x"}"#),
    ("workoutRoute", #"{"latitude":[1],"longitude":[]}"#), ("workoutRoute", #"{"latitude":[null],"longitude":[1]}"#),
    ("workoutRoute", #"{"latitude":[1],"longitude":[1],"time":[1,2]}"#), ("workoutRoute", #"{"power":[1]}"#),
    ("workoutRoute", #"{"latitude":[1],"latitude":[1],"longitude":[1]}"#), ("workoutRoute", "[]"),
    ("workoutRoute", "null"),
    ("workoutRoute", #"{"latitude":1}"#),
  ])
  func contentOfAnotherShapeIsKeptAsItIs(kind: String, json: String) throws {
    let payload = try Payload(kind: kind, number: nil, unit: nil, json: json)
    let content = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
    if json.contains("\"latitude\":[1],\"latitude\"") {
      // A decoder takes one of two equal keys.
      #expect(payload == .workoutRoute(WorkoutRoute(points: [RoutePoint(latitude: 1, longitude: 1)])))
      return
    }
    #expect(payload == .unknown(kind: kind, content: content))
    let sample = Sample(
      uuid: SampleIdentity.namespace, type: SampleType("t"), start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      source: Source(name: "s"), payload: payload)
    #expect(try JSONDecoder().decode(Sample.self, from: JSONEncoder().encode(sample)) == sample)
  }

  @Test(arguments: [
    "[1", "[01]", "[1.]", "[.5]", "[+1]", "[1e]", "[1e999]", "[nul]", "[1 2]", "[\"x\"]", "[-]", "[1]]", "[1,2",
  ])
  func badNumbersAreNoColumn(column: String) {
    let json = #"{"latitude":\#(column),"longitude":[1]}"#
    let payload = try? Payload(kind: "workoutRoute", number: nil, unit: nil, json: json)
    if case .workoutRoute = payload { Issue.record("\(json) was taken") }
  }

  @Test func aDayOfPointsIsReadAndWritten() throws {
    let points = (0..<100_000).map { index in
      RoutePoint(
        time: Double(index), latitude: 52 + Double(index) / 1e6, longitude: 13 - Double(index) / 1e6, elevation: 34.5,
        speed: 3.25, course: 12.125, horizontalAccuracy: 4, verticalAccuracy: 3)
    }
    let route = WorkoutRoute(points: points)
    let text = try text(.workoutRoute(route))
    #expect(text.utf8.count < 8 << 20)
    #expect(try Payload(kind: "workoutRoute", number: nil, unit: nil, json: text) == .workoutRoute(route))
  }
}
