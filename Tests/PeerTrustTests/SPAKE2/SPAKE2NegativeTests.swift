import Cryptography
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct SPAKE2NegativeTests {
  static let g =
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"

  /// Invalid shares: bytes that aren't a point of the curve in the protocol's encoding.
  static let badShares: [(String, String)] = [
    ("empty", ""),
    ("identity, one byte", "00"),
    ("identity, padded", String(repeating: "00", count: 65)),
    ("off the curve", "04" + String(repeating: "ff", count: 64)),
    (
      "x not below the prime",
      "04ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
        + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
    ),
    ("compressed", "03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"),
    ("hybrid", "06" + g),
    ("66 bytes", "04" + g + "00"),
    ("64 bytes", g),
  ]

  @Test(arguments: badShares, [SPAKE2.Role.a, .b])
  func refusesBadShares(share: (name: String, hex: String), role: SPAKE2.Role) throws {
    let vector = RFC9382Vectors.vector1
    let party = try SPAKE2(role: role, w: Scalar(bytes: vector.bytes("w")))
    #expect(throws: P256Error.invalidShare) { _ = try party.sharedElement(peerShare: hex(share.hex)) }
  }

  @Test func refusesSharesThatMakeKTheIdentity() throws {
    let vector = RFC9382Vectors.vector1
    let w = try Scalar(bytes: vector.bytes("w"))
    let forA = try hex(
      "04012f3c32af2c3dd3ffc98c81bfb37d262ebafc3f71065def69da12e369d8778c"
        + "9a6af8cbf8eb3b6a0fa1035586bd7de73bbce56dfe2ef94fabc045a8dcc356b1")
    let forB = try hex(
      "04374dda5476677d9762e6109d93992307d600ed0e3b78f565359599d0be3c8628"
        + "9050ce8ab0864c2c397b2a55b6e198e4ea8ab87600a4fcb9dd3ddddafdcaeff4")
    #expect(throws: P256Error.degenerate) { _ = try SPAKE2(role: .a, w: w).sharedElement(peerShare: forA) }
    #expect(throws: P256Error.degenerate) { _ = try SPAKE2(role: .b, w: w).sharedElement(peerShare: forB) }
  }

  @Test(
    arguments: [
      "", "01", String(repeating: "00", count: 32), "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
      "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552", String(repeating: "ff", count: 32),
      String(repeating: "01", count: 33),
    ])
  func refusesScalarsOutOfRange(text: String) throws {
    #expect(throws: P256Error.invalidScalar) { try Scalar(bytes: hex(text)) }
  }

  @Test(arguments: [
    String(repeating: "00", count: 31) + "01", "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550",
  ])
  func acceptsTheFirstAndTheLastScalar(text: String) throws {
    #expect(try Scalar(bytes: hex(text)).bytes().copied == hex(text))
  }

  @Test func reducesModuloTheOrder() throws {
    #expect(throws: P256Error.invalidScalar) { try Scalar(reducing: SecretBytes(copying: P256.orderBytes)) }
    #expect(throws: P256Error.invalidScalar) { try Scalar(reducing: SecretBytes(count: 48)) }
    var nextToOrder = P256.orderBytes
    nextToOrder[31] += 3
    let reduced = try Scalar(reducing: SecretBytes(copying: [0, 0] + nextToOrder))
    #expect(reduced.bytes().copied == [UInt8](repeating: 0, count: 31) + [3])
  }

  @Test func randomScalarsDiffer() throws {
    let scalars = try (0..<20).map { _ in try Scalar.random().bytes().copied }
    #expect(Set(scalars).count == 20)
  }

  @Test func bothSidesInOneRoleDisagree() throws {
    let w = try Scalar(bytes: RFC9382Vectors.vector1.bytes("w"))
    let first = try SPAKE2(role: .a, w: w)
    let second = try SPAKE2(role: .a, w: w)
    let firstKeys = try first.keys(peerShare: second.share, identityA: [], identityB: [], additionalData: [])
    let secondKeys = try second.keys(peerShare: first.share, identityA: [], identityB: [], additionalData: [])
    #expect(firstKeys.cA != secondKeys.cA)
    #expect(firstKeys.cB != secondKeys.cB)
  }

  @Test func proofsOfTheTwoSidesDiffer() throws {
    let vector = RFC9382Vectors.vector1
    #expect(try vector.bytes("cA") != vector.bytes("cB"))
    let w = try Scalar(bytes: vector.bytes("w"))
    let a = try SPAKE2(role: .a, w: w)
    let b = try SPAKE2(role: .b, w: w)
    let keys = try a.keys(peerShare: b.share, identityA: [], identityB: [], additionalData: [])
    #expect(keys.cA != keys.cB)
  }
}
