import HealthStore
import PeerProtocol
import PeerTrust
import PhoneApps
import Testing

@testable import PeerClient

/// Tests of phones with the same name and reused addresses: only the certificate identifies a phone.
@Suite("Another phone than the paired one", .timeLimit(.minutes(5)))
struct AnotherPhoneTests {
  private static func record(_ certificate: PhoneCertificate, at port: Int, name: String) throws -> ServerRecord {
    let fingerprint = try #require(Fingerprint(hex: certificate.fingerprint))
    return ServerRecord(
      id: PeerID(certificate: fingerprint), name: name, fingerprint: fingerprint,
      credential: BearerCredential(.random()),
      dialect: HealthAppTransferDialect.name, host: "127.0.0.1", port: UInt16(port))
  }

  private static func withFinder(_ body: (PeerFinder, PeerRegistry) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let registry = try await PeerRegistry.open(in: directory)
      try await body(PeerFinder(registry: registry, ownID: try makePeerID(), escape: { $0 }), registry)
    }
  }

  @Test("where it answers in the place of the paired one, that is said, it is sent nothing, and it is no alarm")
  func inItsPlace() async throws {
    let app = HealthAppTransferApp()
    let server = try await PhoneServer(app, try .healthAppTransfer())
    let endpoint = PeerEndpoint(host: "127.0.0.1", port: server.port)
    let mine = try Self.record(try .healthAppTransfer(), at: server.port, name: "mine")
    try await Self.withFinder { finder, _ in
      // As verifying does, and as pulling does, which tries the last address for good.
      let verifying = await #expect(throws: PeerFinderError.self) { () async throws -> Void in
        _ = try await finder.reach(mine, endpoints: [endpoint]) { (_: PeerEndpoint) async throws -> Void in
          Issue.record("spoken to")
        }
      }
      let pulling = await #expect(throws: PeerFinderError.self) { () async throws -> Void in
        _ = try await finder.reach(mine, endpoints: [endpoint]) { endpoint, _ async throws -> Void in
          _ = try await AppTransport.exchange(
            AppRequest(.get, "/status"), with: endpoint, .pinned(mine.fingerprint, peer: mine.name),
            HealthAppTransferDialect.profile, silenceLimit: 10)
        }
      }
      for error in [verifying, pulling] {
        guard case .anotherPhone(let name, let advice, _)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(name == "mine" && advice.contains("Start Sharing"))
        #expect(error.map { PullRetry.mayHelp(after: $0) } == true)
        #expect(error?.description.contains("STOP") == false)
      }
    }
    #expect(app.state.withLock(\.requests).isEmpty)
    await server.stop()
  }

  @Test("at an address that was given, the paired one of that certificate is meant, whatever was there before")
  func byAddress() async throws {
    let certificate = try PhoneCertificate.healthAppTransfer()
    let server = try await PhoneServer(HealthAppTransferApp(), certificate)
    try await Self.withFinder { finder, registry in
      try await registry.addServer(try Self.record(try .healthAppTransfer(), at: server.port, name: "hers"))
      try await registry.addServer(try Self.record(certificate, at: 2, name: "mine"))
      guard
        case .paired(let known, let endpoints) = try await finder.target(
          at: PeerEndpoint(host: "127.0.0.1", port: server.port))
      else {
        Issue.record("its certificate is known")
        return
      }
      #expect(known.name == "mine")
      #expect(endpoints.map(\.port) == [server.port])
    }
    await server.stop()
  }
}
