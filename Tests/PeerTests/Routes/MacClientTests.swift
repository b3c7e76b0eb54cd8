import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import TestSupport
import Testing

@testable import PeerClient
@testable import PeerServer

/// Tests that follow HealthAppTransfer's client for the Mac in its requests and decoding: a connection for each
/// request, no client certificate, and a decoder that rejects a page if a member is missing.
@Suite("HealthAppTransfer's client for the Mac", .timeLimit(.minutes(5)))
struct MacClientTests {
  private struct Envelope<Content: Decodable>: Decodable {
    var success: Bool
    var data: Content
  }

  private struct Pairing: Decodable {
    var token: String
    var deviceID: UUID
  }

  private struct Status: Decodable {
    var status: String
    var version: String
    var deviceName: String
    var availableTypes: Int
  }

  private struct Types: Decodable {
    struct Entry: Decodable {
      var identifier: String
      var displayName: String
      var sampleCount: Int
    }
    var types: [Entry]
  }

  private struct Page: Decodable {
    var type: String
    var samples: [Row]
    var totalCount: Int
    var offset: Int
    var limit: Int
    var hasMore: Bool
  }

  /// A row with dates in `JSONDecoder`'s default form: seconds since 2001.
  private struct Row: Decodable {
    var id: UUID
    var type: String
    var startDate: Date
    var endDate: Date
    var sourceName: String
    var value: Double?
    var unit: String?
    var categoryValue: Int?
    var workoutActivityType: UInt?
    var workoutDuration: Double?
    var correlationValues: [String: Double]?
    var metadataJSON: String?
  }

  private static func send<Content: Decodable>(
    _ request: AppRequest, _ server: TestServer, as type: Content.Type = Content.self
  ) async throws -> Content {
    let answer = try await AppTransport.exchange(
      request, with: server.endpoint, server.trust, TransportProfile(leastTLS: .tls12), silenceLimit: 60)
    // Anything but 200 is a failure for it.
    try #require(answer.status == 200, "\(answer.text)")
    let envelope = try JSONDecoder().decode(Envelope<Content>.self, from: Data(answer.body))
    #expect(envelope.success)
    return envelope.data
  }

  @Test("it pairs by the pasted code, and reads all that it has words for, once")
  func wholeWay() async throws {
    let unknown = Workout(activityType: .name("HKWorkoutActivityTypeOfTomorrow"), duration: 60)
    let samples =
      Samples.everyKind + Samples.heartRates(1_204)
      + [Samples.sample(.workout, at: Samples.noon - 500, .workout(unknown))]
    var options = ServerOptions(samples: samples)
    options.derivesKeys = false
    try await withServer(options) { server in
      // It looks at the address with a connection of its own, which says nothing.
      for _ in 0..<3 { close(try #require(TCPSocket.connect(to: server.port))) }
      let window = try await server.desk.open()
      let status = try await Self.send(AppRequest(.get, "/status"), server, as: Status.self)
      #expect(status.status == "running")
      let pairing = try await Self.send(
        try HealthAppTransferRequest.pair(code: window.code.digits, deviceName: "Casey\u{2019}s Mac").request, server,
        as: Pairing.self)
      let types = try await Self.send(
        HealthAppTransferRequest.types(token: pairing.token).request, server, as: Types.self)
      let listed = types.types.map(\.identifier)
      // Ordered, each once, and none without pages: characteristics and summaries of days are not among them.
      #expect(listed == Set(listed).sorted())
      #expect(
        Set(listed) == [
          "bloodPressure", "bloodPressureDiastolic", "bloodPressureSystolic", "heartRate", "sleepAnalysis", "stepCount",
          "workout",
        ])
      var rows: [String: [Row]] = [:]
      for entry in types.types {
        #expect(entry.sampleCount >= 1)
        let type = try #require(HealthAppTransferRequest.AppType(entry.identifier))
        var (offset, hasMore) = (0, true)
        while hasMore {
          let request = HealthAppTransferRequest.data(type, offset: offset, limit: 500, token: pairing.token)
          let page = try await Self.send(request.request, server, as: Page.self)
          #expect(page.type == entry.identifier && page.offset == offset && page.limit == 500)
          #expect(page.samples.allSatisfy { $0.type == entry.identifier && !$0.sourceName.isEmpty })
          rows[entry.identifier, default: []] += page.samples
          (offset, hasMore) = (offset + page.limit, page.hasMore)
        }
      }
      #expect(rows["heartRate"]?.count == 1_205)
      #expect(Set(rows["heartRate"]?.map(\.id) ?? []).count == 1_205)
      // What has no number in JSON is left out, and spoils no page.
      #expect(rows["stepCount"]?.count == 1)
      let noon = Date(timeIntervalSince1970: TimeInterval(Samples.noon))
      #expect(rows["stepCount"]?.first?.startDate == noon)
      #expect(rows["bloodPressure"]?.first?.correlationValues == ["systolic": 120, "diastolic": 80.5])
      let activities = rows["workout"]?.map(\.workoutActivityType)
      #expect(activities == [37, 3_000], "an unknown activity is other, and not left out")
      #expect(rows["workout"]?.allSatisfy { $0.workoutDuration != nil } == true)
    }
  }
}
