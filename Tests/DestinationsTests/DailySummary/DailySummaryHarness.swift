import Foundation
import HealthAnalysis
import HealthModel
import Synchronization
import TestSupport

@testable import Destinations

/// The harness of the destination `daily-summary`, with a server that keeps the last version of each day.
final class DailySummaryHarness: DestinationHarness {
  typealias Place = DailySummaryDestination

  private final class Server: Sendable {
    /// The received summaries, by path and date.
    let steps = Mutex<[String: [String: JSONValue]]>([:])
    let key = Mutex("open sesame")
  }

  private let server = Server()
  private let endpoint: RawEndpoint
  /// The start of the first sample, ten days ago.
  private let first = Timestamp(seconds: Timestamp.now.seconds - 864_000)

  static func start() throws -> Self { try Self() }

  init() throws {
    endpoint = try RawEndpoint { [server] exchange in
      guard exchange.request.headers["authorization"] == "Bearer \(server.key.withLock(\.self))" else {
        return exchange.answer(401)
      }
      guard case .object(let body)? = try? JSONDecoder().decode(JSONValue.self, from: Data(exchange.request.body)),
        case .array(let days)? = body["data"]
      else { return exchange.answer(400) }
      server.steps.withLock { steps in
        for case .object(let day) in days {
          guard case .string(let date)? = day["date"], case .object(let metrics)? = day["metrics"] else { continue }
          steps[exchange.request.target, default: [:]][date] = metrics["step_count"]
        }
      }
      return exchange.answer(200)
    }
  }

  var port: Int? { endpoint.port }
  var secrets: [String: String] { ["KEY": "open sesame"] }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    ["url": .text("\(place.scheme)://127.0.0.1:\(place.port)/\(place.name)"), "key": .text("env:KEY")]
  }

  /// Returns samples over the last days, somewhat more than an hour apart.
  func samples(_ count: Int) -> [Sample] {
    DestinationHarnesses.steps(count).enumerated().map { index, sample in
      var sample = sample
      sample.start = Timestamp(seconds: first.seconds + Int64(index) * 4_000)
      sample.end = Timestamp(seconds: sample.start.seconds + 1)
      return sample
    }
  }

  func contents(of place: HarnessPlace) -> [String] {
    server.steps.withLock { $0["/\(place.name)"] ?? [:] }.map { "\($0.key) \($0.value)" }
  }

  func expected(_ samples: [Sample]) throws -> [String] {
    let zone = try ZoneRules(named: "Europe/Berlin")
    let sums = samples.reduce(into: [String: Double]()) { sums, sample in
      guard case .quantity(let quantity) = sample.payload else { return }
      sums[zone.date(sample.start), default: 0] += quantity.value
    }
    return sums.map { "\($0.key) \(JSONValue.integer(Int64($0.value)))" }
  }

  func setCredentials(areValid: Bool) -> Bool {
    server.key.withLock { $0 = areValid ? "open sesame" : "changed" }
    return true
  }
}
