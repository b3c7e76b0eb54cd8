import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("What a server says of its pairing with whoever asks", .timeLimit(.minutes(5)))
struct PairingViewRouteTests {
  private func view(_ server: TestServer, _ token: BearerToken) async throws -> PairingView {
    let answer = try await server.get(Route.pairing, token: token)
    try #require(answer.status == 200, "\(answer.text)")
    #expect(answer.headers.first(name: "Cache-Control") == "no-store")
    return try JSONDecoder().decode(Envelope<PairingView>.self, from: answer.body).data
  }

  @Test("where it comes from, what it may read, since when and until when; nothing of others; and it is written down")
  func own() async throws {
    try await withServer(ServerOptions(samples: Samples.everyKind)) { server in
      let scope = SampleFilter(types: [Samples.heartRate], earliest: Timestamp(iso8601: "2024-01-01"))
      let (id, token) = try await server.token(scope: scope)
      let other = try await server.token(name: "attic").token
      let first = try await view(server, token)
      #expect(first.address == "127.0.0.1" && first.scope == scope && !first.onlyDaily)
      #expect(first.lastSeen == nil && first.following == nil && !first.lowSpace)
      let record = try #require(try await server.registry.clients().first { $0.id == id })
      #expect(abs(first.expires.rawValue - record.expires.timeIntervalSince1970) < 1)
      let second = try await view(server, token)
      let used = try #require(record.lastSeen)
      #expect(abs(try #require(second.lastSeen).rawValue - used.timeIntervalSince1970) < 1)
      try await server.registry.setOnlyDaily(true, ofClient: id)
      #expect(try await view(server, token).onlyDaily)
      #expect(try await view(server, other).scope == .everything)
      let audited = try await server.audited(.pairingRead)
      #expect(audited.first?.detail == ["peer": "laptop", "id": id.hex, "address": "127.0.0.1"])
      #expect(audited.count == 4)
    }
  }

  @Test("whoever has no token is told nothing, and HEAD tells nothing")
  func strangers() async throws {
    try await withServer { server in
      #expect(try await server.get(Route.pairing).status == 401)
      #expect(try await server.get(Route.pairing, token: .random()).status == 401)
      let token = try await server.token().token
      #expect(try await server.request(.HEAD, Route.pairing, token: token).status == 200)
      #expect(try await server.audited(.pairingRead).isEmpty)
    }
  }

  @Test("that there is little room")
  func lowSpace() async throws {
    var options = ServerOptions()
    options.space = { _ in DiskSpace(bytes: 1 << 40, freeBytes: 1 << 20) }
    try await withServer(options) { server in
      let token = try await server.token().token
      #expect(try await view(server, token).lowSpace)
    }
  }

  @Test("the way back is tried to the machine that asks, as this one has it in its list, and for no other")
  func wayBack() async throws {
    let tried = NIOLockedValueBox<[ServerRecord]>([])
    var options = ServerOptions()
    options.wayBack = { server in
      tried.withLockedValue { $0.append(server) }
      return .init(endpoint: "192.168.1.7:8737", outcome: .unreachable)
    }
    try await withServer(options) { server in
      let (id, token) = try await server.token()
      let other = try await server.token(name: "attic").token
      // As a server it has an ID of its own; the certificate is the same.
      let certificate = try #require(Fingerprint(bytes: id.bytes + Array(repeating: 0, count: 16)))
      let laptop = ServerRecord(
        id: server.identity.id, name: "laptop", fingerprint: certificate, credential: BearerCredential(.random()),
        host: "192.168.1.7", port: 8737)
      try await server.registry.addServer(laptop)
      #expect(try await view(server, other).following == nil)
      for _ in 0..<3 {
        let following = try await view(server, token).following
        #expect(following == .init(endpoint: "192.168.1.7:8737", outcome: .unreachable))
      }
      let servers = tried.withLockedValue(\.self)
      #expect(servers.map(\.fingerprint) == [certificate] && servers.map(\.host) == ["192.168.1.7"])
      #expect(
        try await server.audited(.pairingRead).map { $0.detail["reached"] }.suffix(3) == [
          "unreachable", "unreachable", "unreachable",
        ])
    }
  }
}
