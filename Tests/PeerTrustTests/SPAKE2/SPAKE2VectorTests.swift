import Cryptography
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct SPAKE2VectorTests {
  /// Every field of every vector of the RFC is computed from w, x and y alone, on both sides.
  @Test(arguments: RFC9382Vectors.all)
  func rfc9382(vector: TestVector) throws {
    let w = try Scalar(bytes: vector.bytes("w"))
    let a = try SPAKE2(role: .a, w: w, secret: Scalar(bytes: vector.bytes("x")))
    let b = try SPAKE2(role: .b, w: w, secret: Scalar(bytes: vector.bytes("y")))
    #expect(try a.share == vector.bytes("pA"))
    #expect(try b.share == vector.bytes("pB"))
    let element = try a.sharedElement(peerShare: b.share)
    #expect(try element.copied == vector.bytes("K"))
    #expect(try b.sharedElement(peerShare: a.share).copied == element.copied)

    let identityA = try vector.bytes("A_hex")
    let identityB = try vector.bytes("B_hex")
    let transcript = SPAKE2Keys.transcript(
      identityA: identityA, identityB: identityB, shareA: a.share, shareB: b.share, element: element, w: w)
    #expect(try transcript.copied == vector.bytes("TT"))
    #expect(try Array(SHA256.hash(data: transcript.copied)) == vector.bytes("Hash(TT)"))
    for (party, peer) in [(a, b), (b, a)] {
      let keys = try party.keys(
        peerShare: peer.share, identityA: identityA, identityB: identityB, additionalData: [])
      try expect(keys, match: vector)
    }
  }

  /// Every field of hpeer's own vectors is computed: the encodings, scrypt, SPAKE2 with additional data, and the
  /// derived values.
  @Test(arguments: HpeerPairVectors.all)
  func hpeerPair(vector: TestVector) async throws {
    let code = try #require(PairingCode(vector.text("code")))
    let salt = try vector.bytes("salt")
    let session = try vector.bytes("session")
    let transcript = try transcript(vector)
    #expect(try PasswordScalar.salt(salt, serverID: transcript.serverID) == vector.bytes("scrypt_salt"))
    #expect(
      try PasswordScalar.wideBytes(code: code, salt: salt, serverID: transcript.serverID).copied
        == vector.bytes("wide"))
    let w = try await PasswordScalar.derive(code: code, salt: salt, serverID: transcript.serverID)
    #expect(try w.bytes().copied == vector.bytes("w"))
    #expect(try transcript.identityA == vector.bytes("idA"))
    #expect(try transcript.identityB == vector.bytes("idB"))
    let additionalData = transcript.additionalData(session: session)
    #expect(try additionalData == vector.bytes("AAD"))

    let a = try SPAKE2(role: .a, w: w, secret: Scalar(bytes: vector.bytes("x")))
    let b = try SPAKE2(role: .b, w: w, secret: Scalar(bytes: vector.bytes("y")))
    #expect(try a.share == vector.bytes("pA"))
    #expect(try b.share == vector.bytes("pB"))
    let element = try b.sharedElement(peerShare: a.share)
    #expect(try element.copied == vector.bytes("K"))
    let bytes = SPAKE2Keys.transcript(
      identityA: transcript.identityA, identityB: transcript.identityB, shareA: a.share, shareB: b.share,
      element: element, w: w)
    #expect(try bytes.copied == vector.bytes("TT"))
    #expect(try Array(SHA256.hash(data: bytes.copied)) == vector.bytes("Hash(TT)"))

    let keys = try SPAKE2Keys(transcript: bytes, additionalData: additionalData)
    try expect(keys, match: vector)
    let secrets = PairingSecrets(keys: keys, additionalData: additionalData)
    #expect(try secrets.token.bytes == vector.bytes("token"))
    #expect(try secrets.receiptKey.withUnsafeBytes { Array($0) } == vector.bytes("receipt_key"))
  }

  /// The vectors also hold for the two classes that the network code uses.
  @Test(arguments: HpeerPairVectors.all)
  func hpeerPairExchange(vector: TestVector) throws {
    let w = try Scalar(bytes: vector.bytes("w"))
    let transcript = try transcript(vector)
    let session = try vector.bytes("session")
    let client = try PairingClientExchange(transcript: transcript, w: w, x: Scalar(bytes: vector.bytes("x")))
    let request = client.startRequest
    #expect(try request.pA == vector.bytes("pA"))
    #expect(try request.name == vector.text("name"))
    let server = try PairingServerExchange(
      transcript: transcript, session: session, pA: request.pA, w: w, y: Scalar(bytes: vector.bytes("y")))
    let confirmation = try client.confirm(PairStartResponse(session: session, pB: server.pB, ttl: 30))
    #expect(try confirmation.finishRequest.cA == vector.bytes("cA"))
    #expect(server.verify(confirmation.finishRequest.cA))
    let response = try server.response(expiresAt: .init(timeIntervalSince1970: 1_767_787_500.75))
    #expect(try response.cB == vector.bytes("cB"))
    let paired = try confirmation.verify(response)
    #expect(try paired.token.bytes == vector.bytes("token"))
    #expect(paired.token.hash == server.tokenHash)
    #expect(paired.expiresAt == .init(timeIntervalSince1970: 1_767_787_500))
    for seconds in [-1, -1e300, 7_258_118_400, 1e300, .infinity] as [Double] {
      #expect(throws: PairMessageError.badField("expiresAt")) {
        try server.response(expiresAt: .init(timeIntervalSince1970: seconds))
      }
    }
  }

  @Test func anotherServerCertificateChangesEverythingAfterK() throws {
    let honest = HpeerPairVectors.leadingZero
    let other = HpeerPairVectors.otherServerCertificate
    for field in ["w", "pA", "pB", "K"] { #expect(try honest.bytes(field) == other.bytes(field)) }
    for field in ["TT", "Ke", "Ka", "KcA", "KcB", "cA", "cB", "token", "receipt_key"] {
      #expect(try honest.bytes(field) != other.bytes(field))
    }
  }

  private func transcript(_ vector: TestVector) throws -> PairingTranscript {
    try PairingTranscript(
      serverID: #require(PeerID(bytes: vector.bytes("serverID"))),
      serverFingerprint: #require(Fingerprint(bytes: vector.bytes("fpS"))),
      clientID: #require(PeerID(bytes: vector.bytes("clientID"))),
      clientFingerprint: Fingerprint(bytes: vector.bytes("fpC")), clientName: vector.text("name"),
      offeredVersions: [PairingProtocol.version])
  }

  private func expect(_ keys: SPAKE2Keys, match vector: TestVector) throws {
    #expect(try keys.ke.withUnsafeBytes { Array($0) } == vector.bytes("Ke"))
    #expect(try keys.ka.withUnsafeBytes { Array($0) } == vector.bytes("Ka"))
    #expect(try keys.kcA.withUnsafeBytes { Array($0) } == vector.bytes("KcA"))
    #expect(try keys.kcB.withUnsafeBytes { Array($0) } == vector.bytes("KcB"))
    #expect(try keys.cA == vector.bytes("cA"))
    #expect(try keys.cB == vector.bytes("cB"))
  }
}

@Suite struct SPAKE2ConstantTests {
  /// M and N aren't chosen freely but follow from their seeds (RFC 9382 appendix A).
  @Test(arguments: [("M", P256.mBytes), ("N", P256.nBytes)])
  func pointsFollowFromTheirSeeds(name: String, expected: [UInt8]) throws {
    let curve = try P256.shared()
    var hash = Array("1.2.840.10045.3.1.7 point generation seed (\(name))".utf8)
    for _ in 1...1000 {
      hash = Array(SHA256.hash(data: hash))
      let candidate = hash + SHA256.hash(data: hash).prefix(1)
      let encoded = [candidate[0] & 1 | 2] + candidate[1...]
      guard (try? curve.decode(encoded)) != nil else { continue }
      #expect(encoded == expected)
      return
    }
    Issue.record("no point found")
  }

  @Test func uncompressedForms() throws {
    let curve = try P256.shared()
    #expect(
      try curve.encode(curve.decode(P256.mBytes))
        == hex(
          "04886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f"
            + "5ff355163e43ce224e0b0e65ff02ac8e5c7be09419c785e0ca547d55a12e2d20"))
    #expect(
      try curve.encode(curve.decode(P256.nBytes))
        == hex(
          "04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"
            + "07d60aa6bfade45008a636337f5168c64d9bd36034808cd564490b1e656edbe7"))
  }
}
