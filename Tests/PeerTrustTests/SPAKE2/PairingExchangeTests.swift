import Cryptography
import Foundation
import PeerProtocol
import Testing

@testable import PeerTrust

/// Tests of the client against an honest or dishonest server in the test.
@Suite struct PairingExchangeTests {
  let transcript: PairingTranscript
  let w: Scalar
  let session = [UInt8](repeating: 7, count: 16)

  init() throws {
    transcript = try PairingTranscript(
      serverID: #require(PeerID(bytes: [UInt8](repeating: 1, count: 16))),
      serverFingerprint: #require(Fingerprint(bytes: [UInt8](repeating: 2, count: 32))),
      clientID: #require(PeerID(bytes: [UInt8](repeating: 3, count: 16))), clientName: "laptop",
      offeredVersions: [PairingProtocol.version])
    w = try Scalar(bytes: [UInt8](repeating: 4, count: 32))
  }

  private func run(
    client: PairingTranscript? = nil, server: PairingTranscript? = nil, serverW: Scalar? = nil,
    clientSession: [UInt8]? = nil
  ) throws -> (confirmation: PairingClientConfirmation, server: PairingServerExchange) {
    let clientSide = try PairingClientExchange(transcript: client ?? transcript, w: w, x: .random())
    let serverSide = try PairingServerExchange(
      transcript: server ?? transcript, session: session, pA: clientSide.startRequest.pA, w: serverW ?? w, y: .random())
    let confirmation = try clientSide.confirm(
      PairStartResponse(session: clientSession ?? session, pB: serverSide.pB, ttl: 30))
    return (confirmation, serverSide)
  }

  private func expectBothSidesFail(
    _ run: (confirmation: PairingClientConfirmation, server: PairingServerExchange),
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(!run.server.verify(run.confirmation.finishRequest.cA), sourceLocation: sourceLocation)
    // A dishonest server that answers without the proof learns nothing it could use.
    #expect(throws: PairingExchangeError.serverNotAuthenticated, sourceLocation: sourceLocation) {
      try run.confirmation.verify(run.server.response(expiresAt: Date()))
    }
  }

  @Test func sameInputsAgree() throws {
    let run = try run()
    #expect(run.server.verify(run.confirmation.finishRequest.cA))
    let paired = try run.confirmation.verify(run.server.response(expiresAt: Date()))
    #expect(paired.token.hash == run.server.tokenHash)
    #expect(paired.fingerprint == transcript.serverFingerprint)
    #expect(paired.serverID == transcript.serverID)
  }

  @Test func wrongCodeFailsOnBothSides() throws {
    expectBothSidesFail(try run(serverW: Scalar(bytes: [UInt8](repeating: 5, count: 32))))
  }

  /// A man in the middle forwards every message, but shows the client its own certificate.
  @Test func relayFailsOnBothSides() throws {
    var seen = transcript
    seen.serverFingerprint = try #require(Fingerprint(bytes: [UInt8](repeating: 9, count: 32)))
    expectBothSidesFail(try run(client: seen))
  }

  @Test func everyOtherInputIsBound() throws {
    var other = transcript
    other.clientName = "laptop2"
    expectBothSidesFail(try run(server: other))
    other = transcript
    other.clientID = transcript.serverID
    expectBothSidesFail(try run(server: other))
    other = transcript
    other.serverID = transcript.clientID
    expectBothSidesFail(try run(server: other))
    other = transcript
    other.clientFingerprint = transcript.serverFingerprint
    expectBothSidesFail(try run(server: other))
    other = transcript
    other.offeredVersions = [PairingProtocol.version, "hpeer-pair/2"]
    expectBothSidesFail(try run(server: other))
    expectBothSidesFail(try run(clientSession: [UInt8](repeating: 8, count: 16)))
  }

  @Test func reflectionFails() throws {
    let run = try run()
    let honest = try run.server.response(expiresAt: Date())
    #expect(!run.server.verify(honest.cB))
    let reflected = try PairFinishResponse(
      cB: run.confirmation.finishRequest.cA, tokenID: honest.tokenID, expiresAt: honest.expiresAt,
      receipt: honest.receipt)
    #expect(throws: PairingExchangeError.serverNotAuthenticated) { try run.confirmation.verify(reflected) }
  }

  @Test func confirmationsMustBeWholeAndExact() throws {
    let run = try run()
    let cA = run.confirmation.finishRequest.cA
    for index in cA.indices {
      var flipped = cA
      flipped[index] ^= 1
      #expect(!run.server.verify(flipped))
    }
    #expect(!run.server.verify(Array(cA.dropLast())))
    #expect(!run.server.verify([]))
    #expect(!run.server.verify(cA + [0]))
  }

  @Test func alteredReceiptIsRefused() throws {
    let run = try run()
    let honest = try run.server.response(expiresAt: Date(timeIntervalSince1970: 1_800_000_000))
    let later = try PairFinishResponse(
      cB: honest.cB, tokenID: honest.tokenID, expiresAt: honest.expiresAt + 1, receipt: honest.receipt)
    #expect(throws: PairingExchangeError.badReceipt) { try run.confirmation.verify(later) }
    let otherToken = try PairFinishResponse(
      cB: honest.cB, tokenID: "0000000000000000", expiresAt: honest.expiresAt, receipt: honest.receipt)
    #expect(throws: PairingExchangeError.badReceipt) { try run.confirmation.verify(otherToken) }
  }

  @Test(arguments: SPAKE2NegativeTests.badShares.filter { $0.1.utf8.count == 130 })
  func clientRefusesBadServerShares(share: (name: String, hex: String)) throws {
    #expect(throws: PairingExchangeError.badServerShare) {
      let client = try PairingClientExchange(transcript: transcript, w: w, x: .random())
      _ = try client.confirm(PairStartResponse(session: session, pB: hex(share.hex), ttl: 30))
    }
  }

  @Test func clientRefusesOtherVersionsSuitesAndClosedWindows() async throws {
    func begin(_ versions: [String], _ suite: String, _ salt: [UInt8]?) async throws {
      _ = try await PairingClientExchange(
        hello: PairHello(versions: versions, suite: suite, serverID: transcript.serverID, salt: salt),
        code: #require(PairingCode("000000")), clientID: transcript.clientID, name: "n",
        serverFingerprint: transcript.serverFingerprint)
    }
    let salt = [UInt8](repeating: 0, count: 16)
    await #expect(throws: PairingExchangeError.unsupportedVersion) {
      try await begin(["hpeer-pair/0", "hpeer-pair/2"], PairingProtocol.suite, salt)
    }
    await #expect(throws: PairingExchangeError.unsupportedVersion) {
      try await begin([PairingProtocol.version], "P256-SHA512-HKDF-HMAC", salt)
    }
    await #expect(throws: PairingExchangeError.windowClosed) {
      try await begin([PairingProtocol.version], PairingProtocol.suite, nil)
    }
  }
}
