import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

/// Tests that no secret reaches an error, the audit log, the state of a delivery or the dead letters, even if a
/// server's error quotes the headers that it was sent.
@Suite("Secrets of destinations", .timeLimit(.minutes(5))) struct DestinationSecretsTests {
  struct Subject: Sendable, CustomTestStringConvertible {
    let kind: any Destination.Type
    let values: [String: DestinationSettings.Value]
    var testDescription: String { kind.description.kind.rawValue }
  }

  private static let secret = "Xyzzy0123456789PlughTelltale/+=abcdef"
  /// Fragments that identify the secret even if parts of it are cut off.
  private static let marks = [
    "Xyzzy01234", "PlughTelltale", Data("ada:\(secret)".utf8).base64EncodedString().prefix(20),
    Data(secret.utf8).base64EncodedString().prefix(16),
  ].map { String($0) }

  /// The kinds that use HTTP and have secrets, each with all of its secrets.
  private static let subjects: [Subject] = DestinationKinds.all.compactMap { kind in
    let secrets = kind.description.fields.filter { $0.kind == .secret }
    guard !secrets.isEmpty, kind.description.fields.contains(where: { $0.key == "ca" }), kind != MQTTDestination.self
    else { return nil }
    var values = Dictionary(secrets.map { ($0.key, DestinationSettings.Value.text("env:SECRET")) }) { $1 }
    values["signing-secret"] = values["signing-secret"].map { _ in .text("env:SIGNING") }
    if kind.description.fields.contains(where: { $0.key == "username" }) { values["username"] = .text("ada") }
    if kind == WebhookDestination.self { values["secret-headers"] = .table(["X-Key": "env:SECRET"]) }
    if kind == HomeAssistantDestination.self { values["webhook-id"] = .text("healthpush_me") }
    if kind == S3Destination.self { values["bucket"] = .text("health") }
    return Subject(kind: kind, values: values)
  }

  @Test("are in nothing that is said of a server that quotes them", arguments: subjects)
  func quoted(_ subject: Subject) async throws {
    for status in [200, 302, 400, 401, 403, 413, 422, 500] {
      for isXML in [false, true] {
        let endpoint = try RawEndpoint { exchange in
          var quoted = exchange.request.headers.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", ")
          if let basic = exchange.request.headers["authorization"], basic.hasPrefix("Basic "),
            let data = Data(base64Encoded: String(basic.dropFirst(6)))
          {
            quoted += ", \(String(decoding: data, as: UTF8.self))"
          }
          // Long before, so that what is cut short has half a secret at its end.
          let padded = String(repeating: "x", count: exchange.number.isMultiple(of: 2) ? 0 : 280) + quoted
          let body =
            isXML
            ? "<Error><Code>\(quoted)</Code><Message>\(padded)</Message></Error>"
            : #"{"resourceType":"OperationOutcome","message":"\#(padded)","issue":[{"severity":"error","diagnostics":"\#(padded)"}]}"#
          return exchange.answer(
            status, ["ETag": "\"x\"", "Location": "https://elsewhere.example/\(quoted.filter(\.isLetter))"], body)
        }
        let said = try await Self.said(subject.kind, subject.values, endpoint)
        for mark in Self.marks { #expect(!said.contains(mark), "\(status): \(said)") }
        #expect(!endpoint.requests.isEmpty)
      }
    }
  }

  /// Returns everything that is reported about a check of a destination and a delivery to it.
  private static func said<Place: Destination>(
    _ kind: Place.Type, _ values: [String: DestinationSettings.Value], _ endpoint: RawEndpoint
  ) async throws -> String {
    let fixture = try RecordFixture()
    try await fixture.add(NamelessRecord.samples())
    let address = Place.description.fields.contains { $0.key == "endpoint" } ? "endpoint" : "url"
    let place = try Place(
      DestinationSettings(values.merging([address: .text(endpoint.url)]) { own, _ in own }, of: kind),
      in: fixture.environment(["SECRET": secret, "SIGNING": "whsec_\(Data(secret.utf8).base64EncodedString())"]))
    var said: [String] = []
    do { try await place.check() } catch { said.append("\(error) \(String(reflecting: error))") }
    let letters = DeadLetters(path: fixture.directory.path("refused.jsonl"))
    let courier = Courier(
      to: place, named: "test", from: fixture.store,
      policy: RetryPolicy(
        firstPause: .milliseconds(1), longestPause: .milliseconds(1), longestRetryAfter: .zero, tolerance: 2),
      deadLetters: letters)
    do { _ = try await courier.run() } catch { said.append("\(error) \(String(reflecting: error))") }
    await place.close()
    said += try await letters.read().map(\.reason)
    said += try await fixture.store.audit.records().map { "\($0)" }
    said.append("\(try await fixture.store.deliveries.state(of: "test"))")
    return said.joined(separator: "\n")
  }
}
