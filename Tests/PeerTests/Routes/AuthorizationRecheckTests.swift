import HealthModel
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("Rights that are taken away while an answer is sent", .timeLimit(.minutes(5)))
struct AuthorizationRecheckTests {
  enum Change: CaseIterable, Sendable {
    case revoked, narrowed, unpaired, locked

    func happen(to client: PeerID, token: BearerToken, _ server: TestServer) async throws {
      switch self {
      case .revoked: try await server.registry.revoke(id: client)
      case .narrowed: try await server.registry.setScope(SampleFilter(types: [SampleType("height")]), ofClient: client)
      case .locked: #expect(try await server.registry.lock())
      case .unpaired: #expect(try await server.request(.DELETE, Route.pairing, token: token).status == 200)
      }
    }
  }

  /// Limits with which rights are checked only before each page.
  private var slow: ServingLimits {
    var limits = ServingLimits()
    limits.rightRecheck = .seconds(3600)
    return limits
  }

  @Test("no further page is sent", arguments: Change.allCases)
  func pages(_ change: Change) async throws {
    let options = ServerOptions(samples: Samples.bulky(30_000), serving: slow)
    try await withServer(options) { server in
      let (client, token) = try await server.token()
      let received = try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        let head = try await connection.send(.GET, Route.changes, headers: Self.headers(token))
        #expect(head.status == .ok)
        try await change.happen(to: client, token: token, server)
        return await Self.bytes(of: connection)
      }
      // Some pages may have been on their way: the buffers between hold a few.
      var decoder = ChangeLineDecoder()
      let lines = try received.withUnsafeBytes { try decoder.decode($0) }
      #expect(lines.count < 20_000)
      let read = try await eventually { try await server.audited(.dataRead).last }
      #expect(read.detail["complete"] == "false")
    }
  }

  @Test("a reader that takes its time over one page is cut off", arguments: Change.allCases)
  func slowReader(_ change: Change) async throws {
    try await withServer(ServerOptions(samples: Samples.bulky(9_000))) { server in
      let (client, token) = try await server.token()
      try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        let head = try await connection.send(.GET, Route.changes, headers: Self.headers(token))
        #expect(head.status == .ok)
        try await change.happen(to: client, token: token, server)
        // It is written down when the answer has ended, which nothing else would end for two minutes.
        let read = try await eventually { try await server.audited(.dataRead).first }
        #expect(read.detail["complete"] == "false")
      }
    }
  }

  private static func headers(_ token: BearerToken) -> [(String, String)] {
    [("Authorization", "Bearer \(token.text)"), ("Accept", ChangeFeedFormat.lines.rawValue)]
  }

  /// Returns the bytes received, however the connection ended.
  private static func bytes(of connection: PeerConnection) async -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      while let part = try await connection.nextBodyPart() { bytes += part.readableBytesView }
    } catch {}
    return bytes
  }
}
