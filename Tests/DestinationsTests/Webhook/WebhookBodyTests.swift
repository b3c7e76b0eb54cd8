import Foundation
import HealthFormats
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

/// Tests of request bodies against the rules of the programs that read them.
@Suite struct WebhookBodyTests {
  private let home: DestinationHome
  /// Samples of every type in the catalogue.
  private let samples = SampleMaker.catalogue

  init() async throws {
    home = try DestinationHome()
    try await home.add(samples)
  }

  private func send(_ body: WebhookBody) async throws -> (requests: [RawEndpoint.Request], report: CourierReport) {
    let endpoint = try RawEndpoint { $0.answer(200) }
    let webhook = try home.make(
      WebhookDestination.self,
      ["url": .text(endpoint.url), "body": .text(body.rawValue), "batch": .integer(10_000)])
    let report = try await home.deliver(to: webhook)
    await webhook.close()
    return (endpoint.requests, report)
  }

  private func object(_ request: RawEndpoint.Request?) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(try #require(request).body))
  }

  @Test("samples of HealthAppTransfer are those of its exports, and what the app does not know is named")
  func healthAppTransfer() async throws {
    let (requests, report) = try await send(.hat1)
    let array = try #require(try object(requests.first) as? [[String: Any]])
    #expect(array.count == report.delivered && report.delivered + report.refused == samples.count)
    #expect(
      array.allSatisfy { $0["id"] != nil && $0["type"] != nil && $0["startDate"] != nil && $0["sourceName"] != nil })
    let pressures = array.filter { $0["type"] as? String == "bloodPressure" }
    #expect(pressures.contains { ($0["correlationValues"] as? [String: Double])?["systolic"] != nil })
    #expect(Set(home.refused().values) == ["a body of hat-json-v1 has no place for it"])
  }

  @Test("the second version says what it is")
  func version2() async throws {
    let (requests, report) = try await send(.hat2)
    let document = try #require(try object(requests.first) as? [String: [String: Any]])
    #expect(document["metadata"]?["sampleCount"] as? Int == report.delivered)
    #expect(document["metadata"]?["types"] as? [String] == document["data"]?.keys.sorted())
  }

  @Test("tables have a row for each sample and one header", arguments: [WebhookBody.csv, .hatCSV])
  func tables(_ body: WebhookBody) async throws {
    let (requests, report) = try await send(body)
    let text = String(decoding: try #require(requests.first).body, as: UTF8.self)
    #expect(text.hasPrefix(body == .csv ? "uuid,type,start," : "id,type,startDate,"))
    if body == .csv { #expect(report.delivered == samples.count && report.refused == 0) }
    #expect(requests.first?.headers["content-type"] == "text/csv; charset=utf-8")
  }

  @Test("records of HealthPush are a line each, those of deleted samples marked")
  func healthPush() async throws {
    struct Record: Decodable {
      struct Metric: Decodable { var key: String }

      var uuid: String
      var deleted: Bool
      var metric: Metric
    }
    func records(_ request: RawEndpoint.Request?) throws -> [Record] {
      try (request?.body ?? []).split(separator: UInt8(ascii: "\n")).map {
        try JSONDecoder().decode(Record.self, from: Data($0))
      }
    }
    let first = try await send(.healthPush)
    let added = try records(first.requests.first)
    #expect(first.report == CourierReport(delivered: samples.count))
    #expect(Set(added.map(\.uuid)) == Set(samples.map(\.uuid.uuidString)) && !added.contains { $0.deleted })
    #expect(added.contains { $0.metric.key == "steps" })
    try await home.delete([samples[0]])
    let deleted = try records(try await send(.healthPush).requests.first)
    #expect(deleted.map(\.uuid) == [samples[0].uuid.uuidString] && deleted[0].deleted)
  }

  /// Checks the rules of two servers, taken from their sources: apple-health-ingester (Go; `pkg/healthautoexport`),
  /// which parses dates strictly and sleep by its segments, and the app's own health-auto-export-server (TypeScript;
  /// `server/src/models`), which requires members and files points by metric, date and source.
  @Test("two servers that read Health Auto Export's shape take every point and every workout")
  func healthAutoExport() async throws {
    let (requests, report) = try await send(.healthAutoExport)
    #expect(report.delivered + report.refused == samples.count && report.delivered > 50)
    let data = try #require((try object(requests.first) as? [String: Any])?["data"] as? [String: Any])
    let metrics = try #require(data["metrics"] as? [[String: Any]])
    #expect(Set(metrics.compactMap { $0["name"] as? String }).count == metrics.count)
    let date = Regex(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}/)
    func isDate(_ value: Any?) -> Bool { (value as? String)?.wholeMatch(of: date) != nil }
    var points = 0
    for metric in metrics {
      let name = try #require(metric["name"] as? String)
      #expect(metric["units"] is String)
      for point in try #require(metric["data"] as? [[String: Any]]) {
        points += 1
        #expect(isDate(point["date"]) && point["source"] is String, "\(name)")
        switch name {
        case "blood_pressure": #expect(point["systolic"] is Double && point["diastolic"] is Double)
        case "heart_rate": #expect(["Min", "Avg", "Max"].allSatisfy { point[$0] is Double })
        case "sleep_analysis":
          #expect(isDate(point["startDate"]) && isDate(point["endDate"]) && point["value"] is String)
          #expect(point["qty"] is Double)
        case "sexual_activity": break
        default: #expect(point["qty"] is Double, "\(name)")
        }
      }
    }
    let workouts = try #require(data["workouts"] as? [[String: Any]])
    for workout in workouts {
      #expect(UUID(uuidString: workout["id"] as? String ?? "") != nil && workout["name"] is String)
      #expect(isDate(workout["start"]) && isDate(workout["end"]))
      for case let quantity as [String: Any] in [workout["distance"], workout["activeEnergyBurned"]] {
        #expect(quantity["qty"] is Double && quantity["units"] is String && quantity.count == 2)
      }
      for point in workout["route"] as? [[String: Any]] ?? [] {
        #expect(point["latitude"] is Double && point["longitude"] is Double)
      }
    }
    let routes = samples.filter { $0.type == .workoutRoute }.count
    #expect(points + workouts.count <= report.delivered && report.delivered <= points + workouts.count + routes)
  }

  @Test("a route that comes after its workout brings it once more, with all of the route")
  func lateRoute() async throws {
    let home = try DestinationHome()
    let start = Timestamp(seconds: 1_718_447_400)
    let workout = Sample(
      uuid: UUID(), type: .workout, start: start, end: Timestamp(seconds: start.seconds + 1_800),
      source: Source(name: "Watch"),
      payload: .workout(Workout(activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeRunning"))))
    let endpoint = try RawEndpoint { $0.answer(200) }
    let webhook = try home.make(
      WebhookDestination.self, ["url": .text(endpoint.url), "body": .text("health-auto-export")])
    try await home.add([workout])
    _ = try await home.deliver(to: webhook)
    try await home.add([
      Sample(
        uuid: UUID(), type: .workoutRoute, start: start, end: workout.end, source: Source(name: "Watch"),
        payload: .workoutRoute(
          WorkoutRoute(workout: workout.reference, points: [RoutePoint(time: 0, latitude: 52.5, longitude: 13.4)])))
    ])
    #expect(try await home.deliver(to: webhook) == CourierReport(delivered: 1))
    let bodies = endpoint.requests.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies.count == 2 && bodies.allSatisfy { $0.contains(workout.uuid.uuidString) })
    #expect(!bodies[0].contains("latitude") && bodies[1].contains("latitude"))
    await webhook.close()
  }
}
