import Foundation
import HealthModel
import PeerProtocol
import PhoneApps
import Testing

@testable import PeerClient

/// Tests that no combination of names and numbers produces a request that would crash a phone app.
@Suite("Every request that can be made of a phone")
struct PhoneRequestTests {
  /// All names that hpeer knows or the apps use, and some malicious names.
  private static let names: [String] = {
    let catalogue = SampleTypeCatalogue.healthKit.entries.flatMap { [$0.shortName, $0.type.rawValue] }
    let apps = [
      "steps", "exerciseTime", "standHours", "workouts", "bloodOxygen", "weight", "heartRateVariability",
      "sleepAnalysis", "sleepInBed", "sleepAsleep", "sleepAwake", "sleepREM", "sleepCore", "sleepDeep", "biologicalSex",
      "bloodType", "dateOfBirth", "fitzpatrickSkinType", "wheelchairUse", "activityMoveMode",
    ]
    let hostile = [
      "", "heartRate&offset=-1", "heartRate&type=bloodType", "heartRate%26", "heartRate\r\nX: y",
      "heartRate\",\"standHours",
      "HEARTRATE", "standhours", " standHours", "standHours ", "\u{0}", "ｓtandHours",
      String(repeating: "a", count: 70_000),
    ]
    return catalogue + apps + hostile
  }()
  private static let numbers = [
    Int.min, -1 << 40, -1, 0, 1, 2, 999, 1_000, 1_001, 9_999, 10_000, 10_001, 1 << 31, 1 << 40, Int.max - 1, Int.max,
  ]
  private static let endpoint = PeerEndpoint(host: "192.0.2.1", port: 1)

  /// Checks that a request has a single head, a body of the stated length, and fits into a TLS record.
  private func check(_ request: AppRequest) throws -> [UInt8] {
    let bytes = request.bytes(to: Self.endpoint)
    #expect(bytes.count < 16_384)
    let text = try #require(String(validating: bytes, as: UTF8.self))
    let parts = text.components(separatedBy: "\r\n\r\n")
    #expect(parts.count == 2)
    let lines = parts[0].components(separatedBy: "\r\n")
    let length = lines.first { $0.hasPrefix("Content-Length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
    #expect(length == parts[1].utf8.count)
    #expect(lines[0].split(separator: " ").count == 3)
    return bytes
  }

  @Test("HealthAppTransfer survives all of them")
  func healthAppTransfer() throws {
    let app = HealthAppTransferApp()
    app.state.withLock { _ = $0.tokens.insert("t") }
    app.state.withLock { $0.add((0..<5).map { .heartRate(60, at: 1_780_000_000 - Double($0)) }) }
    var requests = [
      HealthAppTransferRequest.types(token: "t").request, AppRequest(.get, HealthAppTransferDialect.statusPath),
      try HealthAppTransferRequest.pair(code: "0\"\r\n\u{0}", deviceName: String(repeating: "\"\r\n", count: 9_999))
        .request,
    ]
    let types = Self.names.compactMap(HealthAppTransferRequest.AppType.init)
    #expect(Set(types).count > 150)
    for type in types {
      for number in Self.numbers {
        for (offset, limit) in [(number, 1), (0, number), (number, number)] {
          requests.append(HealthAppTransferRequest.data(type, offset: offset, limit: limit, token: "t").request)
        }
      }
    }
    for request in requests {
      guard case .answer(let answer) = app.react(to: try check(request)) else {
        Issue.record("no answer to \(request.path): \(app.state.withLock { $0.crash } ?? "silence")")
        return
      }
      // None is of a kind that it does not know.
      #expect(!answer.starts(with: Array("HTTP/1.1 404".utf8)))
    }
    let asked = app.state.withLock(\.requests)
    #expect(asked.count == requests.count)
    #expect(!asked.contains { $0.contains("limit=0") || $0.contains("=-") })
  }

  @Test("a host in a code that is no host is none, and the certificate tells where to go")
  func hosts() throws {
    let app = HealthSyncApp(now: { 0 })
    let fingerprint = PhoneNetwork.fingerprint.hex
    for host in ["phone\r\nX-Evil: 1", "a b", "\u{1B}[2J", "", "[::1", "phone/status", "user@phone"] {
      let text = app.payload(host: host, port: 50_000, fingerprint: fingerprint, expiry: nil)
      let invitation = try #require(try HealthSyncDialect.invitation(in: text))
      #expect(invitation.endpoint == nil && invitation.loopback == nil, "\(host)")
    }
    let text = app.payload(host: "Phone.local.", port: 50_000, fingerprint: fingerprint, expiry: nil)
    #expect(
      try HealthSyncDialect.invitation(in: text)?.endpoint == PeerEndpoint(host: "phone.local", port: 50_000))
  }

  @Test("HealthSync survives all of them")
  func healthSync() throws {
    let app = HealthSyncApp(now: { 0 })
    app.state.withLock { state in
      state.tokens = ["t"]
      state.enabled = HealthSyncApp.known
    }
    let types = Self.names.compactMap(HealthSyncRequest.AppType.init)
    #expect(Set(types.map(\.name)).isDisjoint(with: HealthSyncRequest.AppType.forbidden))
    #expect(Set(types.map(\.name)).isSuperset(of: ["steps", "heartRate", "sleepAnalysis", "workouts"]))
    var requests = [
      HealthSyncRequest.types(token: "t").request, HealthSyncRequest.routes(token: "t").request,
      try HealthSyncRequest.pair(code: "0\"\r\n", clientName: String(repeating: "\"\r\n", count: 9_999)).request,
    ]
    let ranges: [Range<Int64>] = [
      .min..<(.max), 0..<1, 0..<0, .min..<(.min), .max..<(.max), -62_135_596_800 ..< -62_135_596_799,
    ]
    for type in Set(types) {
      for number in Self.numbers {
        for range in ranges {
          requests.append(
            HealthSyncRequest.data(type, range, offset: number, limit: number, token: "t").request)
        }
      }
    }
    for request in requests {
      // The limit of a minute is not what this is about.
      app.state.withLock { $0.answered = [] }
      guard case .answer = app.react(to: try check(request)) else {
        Issue.record("it ended: \(app.state.withLock { $0.crash } ?? "silence")")
        return
      }
    }
    #expect(app.state.withLock(\.crash) == nil)
  }
}
