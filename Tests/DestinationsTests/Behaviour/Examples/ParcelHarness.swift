import Foundation
import HealthModel
import Synchronization
import TestSupport

@testable import Destinations

/// An HTTP destination that tests the behaviour tests and their proxy: a PUT for each sample, and a DELETE.
struct ParcelDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("parcels"), "A request for each sample.", repetition: .idempotent,
    fields: [
      SettingField("url", .url(schemes: ["http", "https"]), "Where to.", required: true),
      SettingField("token", .secret, "What it is sent with.", required: true),
    ] + HTTPService.fields)
  let capabilities = DestinationCapabilities(maximumChanges: 20)
  private let service: HTTPService
  private let url: String
  private let token: String

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    url = try settings.text("url")
    service = try HTTPService(settings, url: try settings.url("url"))
    token = try environment.secrets.read("token", of: settings) ?? ""
  }

  func close() async { await service.close() }

  func check() async throws {
    try await send("PUT", "probe", [1])
    try await send("DELETE", "probe")
  }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    if batch.startsOver { try await send("DELETE", "") }
    for tombstone in batch.deletions { try await send("DELETE", tombstone.sample.uuid.uuidString) }
    for sample in try batch.additions() {
      try await send("PUT", sample.uuid.uuidString, Array(try JSONEncoder().encode(sample)))
    }
    return Delivery()
  }

  private func send(_ method: String, _ name: String, _ body: [UInt8]? = nil) async throws {
    let answer = try await service.send(
      HTTPService.Request(method, url + name, headers: [("Token", token)], body: body))
    guard answer.status == 200 else { throw DeliveryError.refused(reason: "it answers \(answer.status)") }
  }
}

final class ParcelHarness: DestinationHarness {
  typealias Place = ParcelDestination

  private final class Server: Sendable {
    let parcels = Mutex<Set<String>>([])
    let token = Mutex("open sesame")
  }

  private let server = Server()
  private let endpoint: RawEndpoint

  static func start() throws -> Self { try Self() }

  init() throws {
    endpoint = try RawEndpoint { [server] exchange in
      guard exchange.request.headers["token"] == server.token.withLock(\.self) else { return exchange.answer(401) }
      let target = exchange.request.target
      server.parcels.withLock { parcels in
        switch exchange.request.method {
        case "PUT": parcels.insert(target)
        case _ where target.hasSuffix("/"): parcels = parcels.filter { !$0.hasPrefix(target) }
        default: parcels.remove(target)
        }
      }
      return exchange.answer(200)
    }
  }

  var port: Int? { endpoint.port }
  var secrets: [String: String] { ["TOKEN": "open sesame"] }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    ["url": .text("\(place.scheme)://127.0.0.1:\(place.port)/\(place.name)/"), "token": .text("env:TOKEN")]
  }

  func contents(of place: HarnessPlace) -> [String] {
    server.parcels.withLock {
      $0.filter { $0.hasPrefix("/\(place.name)/") }.map { String($0.dropFirst(place.name.count + 2)) }
    }
  }

  func setCredentials(areValid: Bool) -> Bool {
    server.token.withLock { $0 = areValid ? "open sesame" : "changed" }
    return true
  }
}
