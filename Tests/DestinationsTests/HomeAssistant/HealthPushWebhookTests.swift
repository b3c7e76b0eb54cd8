import Foundation
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite("HealthPush's webhook", .timeLimit(.minutes(5)))
struct HealthPushWebhookTests {
  private let fixture: RecordFixture

  init() throws { fixture = try RecordFixture() }

  private func destination(_ url: String, secret: String = "secret") throws -> HomeAssistantDestination {
    try HomeAssistantDestination(
      DestinationSettings(
        ["url": .text(url), "webhook-id": .text("healthpush_iphone"), "webhook-secret": .text("env:SECRET")],
        of: HomeAssistantDestination.self), in: fixture.environment(["SECRET": secret]))
  }

  /// Returns an endpoint that answers like the HealthPush component.
  private func endpoint() throws -> RawEndpoint {
    try RawEndpoint { exchange in
      guard exchange.request.target == "/api/webhook/healthpush_iphone" else { return exchange.answer(200) }
      guard exchange.request.headers["x-webhook-secret"] == "secret" else {
        return exchange.answer(401, [:], "Invalid webhook secret")
      }
      let body = try? JSONDecoder().decode(JSONValue.self, from: Data(exchange.request.body))
      guard case .object(let members)? = body, case .array(let metrics)? = members["metrics"], !metrics.isEmpty else {
        return exchange.answer(400, [:], "Missing or empty 'metrics' array")
      }
      return exchange.answer(200, [:], "Accepted \(metrics.count) metric(s)")
    }
  }

  @Test("right totals under HealthPush's names and in its units, only of types that it knows")
  func metrics() async throws {
    let endpoint = try endpoint()
    let place = try destination(endpoint.url)
    try await place.check()
    try await fixture.add([
      fixture.quantity(RecordFixture.steps, 500.5, "count", ago: 7_200),
      fixture.quantity(RecordFixture.steps, 300, "count", ago: 3_600),
      fixture.quantity(SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning"), 1_234, "m", ago: 3_600),
      fixture.quantity(RecordFixture.oxygen, 0.971234, "%", ago: 3_600),
      fixture.quantity(SampleType("HKQuantityTypeIdentifierVO2Max"), 40, "mL/min·kg", ago: 3_600),
    ])
    try await fixture.deliver(to: place)
    await place.close()
    let request = try #require(endpoint.requests.last)
    guard case .object(let body) = try JSONDecoder().decode(JSONValue.self, from: Data(request.body)),
      case .array(let metrics)? = body["metrics"]
    else {
      Issue.record("no metrics")
      return
    }
    #expect(body["device_name"] == .string("HealthPush"))
    let found = metrics.compactMap { metric -> [String: JSONValue]? in
      if case .object(let members) = metric { return members }
      return nil
    }
    #expect(found.map { $0["type"] } == ["walking_running_distance", "blood_oxygen", "steps"].map(JSONValue.string))
    #expect(found.map { $0["unit"] } == ["km", "%", "steps"].map(JSONValue.string))
    #expect(found.map { $0["value"] } == [.number(1.23), .number(97.12), .integer(800)])
    for metric in found {
      #expect(Set(metric.keys) == ["id", "type", "value", "unit", "start_date", "end_date"])
    }
  }

  @Test("what is no success is not taken for one")
  func traps() async throws {
    try await fixture.add([fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200)])
    func error(_ status: Int, _ body: String) async throws -> CourierError? {
      let endpoint = try RawEndpoint { $0.answer(status, [:], body) }
      let place = try destination(endpoint.url)
      let error = await #expect(throws: CourierError.self) {
        try await fixture.deliver(to: place, named: UUID().uuidString)
      }
      await place.close()
      return error
    }
    for (status, body) in [(200, ""), (200, "Accepted metrics"), (400, "400: Bad Request"), (404, ""), (401, "")] {
      guard case .unusable? = try await error(status, body) else {
        Issue.record("\(status) \(body)")
        continue
      }
    }
    guard case .gaveUp? = try await error(503, "") else {
      Issue.record("503 is for later")
      return
    }
    #expect(throws: SettingsError.self) { try destination("http://127.0.0.1", secret: "sécret") }
  }

  @Test("identifiers of days are HealthPush's")
  func identifiers() throws {
    let day = try #require(Timestamp(iso8601: "2026-04-09T00:00:00Z"))
    #expect(HealthPushWebhook.id(day, "steps").uuidString == "7E244E9A-6F83-5EE6-81E1-DE1AB2EECA0A")
    #expect(HealthPushWebhook.id(day, "sleepAnalysis").uuidString == "20F72F9F-C2AF-5C7F-BC0B-1B23C7612A4E")
  }
}
