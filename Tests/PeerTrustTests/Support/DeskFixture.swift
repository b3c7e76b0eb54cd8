import Cryptography
import Foundation
import PeerProtocol
import Synchronization
import Testing

@testable import PeerTrust

/// A pairing desk in a temporary directory, with a clock and a store that the test controls.
final class DeskFixture: Sendable {
  struct Broken: Error {}

  let directory: TemporaryDirectory
  let desk: PairingCoordinator
  let world: World
  let fingerprint: Fingerprint
  let clientID: PeerID

  /// The simulated environment of the desk.
  final class World: Sendable {
    private let now = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    private let log = Mutex<[PairingEvent]>([])
    private let stored = Mutex<[PairedClient]>([])
    private let persistFails = Mutex(false)

    var time: Date { now.withLock { $0 } }
    func advance(_ seconds: TimeInterval) { now.withLock { $0 += seconds } }
    var events: [PairingEvent] { log.withLock { $0 } }
    func record(_ event: PairingEvent) { log.withLock { $0.append(event) } }
    var clients: [PairedClient] { stored.withLock { $0 } }
    func breakStore(_ isBroken: Bool) { persistFails.withLock { $0 = isBroken } }

    func store(_ client: PairedClient) async throws {
      // Others get their turn in the middle, as with a real store.
      await Task.yield()
      if persistFails.withLock({ $0 }) { throw Broken() }
      stored.withLock { $0.append(client) }
    }
  }

  init(directory: TemporaryDirectory? = nil) async throws {
    let directory = try directory ?? TemporaryDirectory()
    let world = World()
    self.directory = directory
    self.world = world
    fingerprint = try #require(Fingerprint(bytes: [UInt8](repeating: 0xf5, count: 32)))
    clientID = try #require(PeerID(bytes: [UInt8](repeating: 0xc1, count: 16)))
    desk = try await PairingCoordinator(
      serverID: #require(PeerID(bytes: [UInt8](repeating: 0x5e, count: 16))), fingerprint: fingerprint,
      directory: directory.url, clock: { world.time }, events: { world.record($0) }, derivation: Self.derive,
      persist: { try await world.store($0) })
  }

  /// A fast replacement for scrypt, which takes half a second without optimization.
  static let derive: PasswordScalar.Derivation = { code, salt, serverID throws(P256Error) in
    try Scalar(
      reducing: SecretBytes(copying: Array(SHA512.hash(data: Array(code.digits.utf8) + salt + serverID.bytes))))
  }

  /// Runs a client up to its proof.
  func begin(
    _ code: PairingCode, seeing seen: Fingerprint? = nil, certificate: Fingerprint? = nil
  ) async throws -> PairingClientConfirmation {
    let hello = await desk.hello()
    let transcript = PairingTranscript(
      serverID: hello.serverID, serverFingerprint: seen ?? fingerprint, clientID: clientID,
      clientFingerprint: certificate, clientName: "laptop", offeredVersions: hello.versions)
    let w = try await Self.derive(code, #require(hello.salt), hello.serverID)
    let client = try PairingClientExchange(transcript: transcript, w: w, x: .random())
    let response = try await desk.start(client.startRequest, clientFingerprint: certificate)
    return try client.confirm(response)
  }

  /// Starts a session with a guessed code. The guesser needs no key to fail.
  func beginGuess(from caller: String = UUID().uuidString) async throws -> [UInt8] {
    try await desk.start(Self.guess(), from: caller).session
  }

  func finishGuess(_ session: [UInt8]) async throws -> PairFinishResponse {
    try await desk.finish(PairFinishRequest(session: session, cA: [UInt8](repeating: 0, count: 32)))
  }

  func failOnce() async throws -> PairRejection {
    let session = try await beginGuess()
    let rejection = await #expect(throws: PairRejection.self) { try await self.finishGuess(session) }
    return try #require(rejection)
  }

  /// Returns a start request with a given share, decoded like a request from the network.
  static func guess(share: String = "04" + SPAKE2NegativeTests.g, versions: [String] = [PairingProtocol.version]) throws
    -> PairStartRequest
  {
    let object: [String: Any] = [
      "clientID": String(repeating: "ab", count: 16), "name": "guesser", "versions": versions, "pA": share,
    ]
    return try JSONDecoder().decode(PairStartRequest.self, from: JSONSerialization.data(withJSONObject: object))
  }

  static func wrong(_ code: PairingCode) throws -> PairingCode {
    try #require(PairingCode(code.digits.first == "0" ? "1" + code.digits.dropFirst() : "0" + code.digits.dropFirst()))
  }
}

/// Calls for tests in which the caller doesn't matter. Each call comes from a different caller.
extension PairingCoordinator {
  func start(
    _ request: PairStartRequest, clientFingerprint: Fingerprint? = nil
  ) async throws(PairRejection) -> PairStartResponse {
    try await start(request, clientFingerprint: clientFingerprint, from: UUID().uuidString)
  }

  func plainPair(code: String, deviceName: String?) async throws(PairRejection) -> PlainPairing {
    try await plainPair(code: code, deviceName: deviceName, from: UUID().uuidString)
  }
}
