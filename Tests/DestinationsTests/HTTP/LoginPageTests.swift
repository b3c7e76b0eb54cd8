import Foundation
import TestSupport
import Testing

@testable import Destinations

/// Tests of a proxy that answers everything with a login page after its session has ended: nothing may be recorded as
/// written or deleted.
@Suite("A page for people", .timeLimit(.minutes(5)))
struct LoginPageTests {
  private let home: DestinationHome

  init() throws { home = try DestinationHome() }

  /// Returns an endpoint that answers a given method with a login page, and all other methods correctly.
  private func endpoint(for method: String) throws -> RawEndpoint {
    try RawEndpoint { exchange in
      exchange.request.method == method
        ? exchange.answer(200, ["Content-Type": "text/html; charset=utf-8"], "<html>Log in</html>")
        : exchange.answer(201, ["ETag": "\"1\""])
    }
  }

  private func expectUnusable(_ body: () async throws -> Void) async {
    await #expect {
      try await body()
    } throws: { error in
      guard case DeliveryError.unusable(let reason) = error else { return false }
      return reason.contains("200") && reason.contains("is url") || reason.contains("is endpoint")
    }
  }

  @Test("deletes no event")
  func calendar() async throws {
    let endpoint = try endpoint(for: "DELETE")
    let destination = try home.make(CalDAVDestination.self, ["url": .text(endpoint.url)])
    await expectUnusable { try await destination.check() }
    #expect(endpoint.requests.map(\.method) == ["PUT", "DELETE"])
    await destination.close()
  }

  @Test("removes no state of Home Assistant")
  func state() async throws {
    let endpoint = try endpoint(for: "DELETE")
    let settings = try DestinationSettings(
      name: "x", ["url": .text(endpoint.url)], of: HomeAssistantDestination.description)
    let service = try HTTPService(settings, url: settings.url("url"))
    let api = HomeAssistantAPI(service: service, url: try settings.url("url"), token: "t")
    await expectUnusable { try await api.removeState("sensor.x") }
    await service.close()
  }

  @Test("writes and deletes no file of WebDAV", arguments: ["PUT", "DELETE"])
  func file(_ method: String) async throws {
    let endpoint = try endpoint(for: method)
    let destination = try home.make(
      WebDAVDestination.self, ["url": .text(endpoint.url), "only-writer": .boolean(true)])
    await expectUnusable {
      try await destination.store.put([1], at: "a", contentType: "text/plain", if: .always)
      try await destination.store.delete("a")
    }
    await destination.close()
  }

  @Test("writes and deletes no object of S3", arguments: ["PUT", "DELETE"])
  func object(_ method: String) async throws {
    let endpoint = try endpoint(for: method)
    let settings = try DestinationSettings(
      name: "x",
      [
        "bucket": .text("health"), "endpoint": .text(endpoint.url), "access-key": .text("env:KEY"),
        "secret-key": .text("env:KEY"),
      ], of: S3Destination.description)
    let client = try S3Client(settings, AWSCredentialSource(settings, SecretStore(environment: ["KEY": "k"])))
    let store = S3ObjectStore(client, encryption: .none)
    await expectUnusable {
      try await store.put([1], at: "a", contentType: "text/plain", if: .always)
      try await store.delete("a")
    }
    await client.close()
  }

  @Test("is no answer that nothing of a patient is there")
  func search() async throws {
    let endpoint = try endpoint(for: "GET")
    let settings = try DestinationSettings(
      name: "x", ["url": .text(endpoint.url)], of: FHIRDestination.description)
    let server = FHIRServer(
      try HTTPService(settings, url: settings.url("url")), url: endpoint.url, token: nil, kind: .transaction)
    await expectUnusable { try await server.deleteAll(of: "Patient/1") }
    await server.close()
  }
}
