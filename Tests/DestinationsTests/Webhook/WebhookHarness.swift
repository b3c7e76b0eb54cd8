import Foundation
import HealthModel
import Synchronization
import TestSupport

@testable import Destinations

/// The harness of the destination `webhook`, with a receiver that stores the UUIDs of the feed's lines.
final class WebhookHarness: DestinationHarness {
  typealias Place = WebhookDestination

  private final class Receiver: Sendable {
    /// The UUIDs, by the path to which they were sent.
    let samples = Mutex<[String: Set<String>]>([:])
    let token = Mutex("s3cret")
  }

  private struct Line: Decodable {
    struct Named: Decodable { var uuid: String }

    var added: Named?
    var deleted: Tombstone?
  }

  private let receiver = Receiver()
  private let endpoint: RawEndpoint

  static func start() throws -> Self { try Self() }

  init() throws {
    endpoint = try RawEndpoint { [receiver] exchange in
      let request = exchange.request
      guard request.headers["authorization"] == "Bearer \(receiver.token.withLock(\.self))" else {
        return exchange.answer(401)
      }
      receiver.samples.withLock { places in
        var samples = places[request.target] ?? []
        if request.headers["hpeer-starts-over"] == "true" { samples = [] }
        for line in request.body.split(separator: UInt8(ascii: "\n")) {
          guard let line = try? JSONDecoder().decode(Line.self, from: Data(line)) else { continue }
          if let deleted = line.deleted { samples.remove(deleted.sample.uuid.uuidString) }
          if let added = line.added { samples.insert(added.uuid) }
        }
        places[request.target] = samples
      }
      return exchange.answer(204)
    }
  }

  var port: Int? { endpoint.port }
  var secrets: [String: String] { ["TOKEN": "s3cret"] }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    [
      "url": .text("\(place.scheme)://127.0.0.1:\(place.port)/\(place.name)"), "token": .text("env:TOKEN"),
      "batch": .integer(20),
    ]
  }

  func contents(of place: HarnessPlace) -> [String] {
    Array(receiver.samples.withLock { $0["/\(place.name)"] ?? [] })
  }

  func setCredentials(areValid: Bool) -> Bool {
    receiver.token.withLock { $0 = areValid ? "s3cret" : "other" }
    return true
  }
}
