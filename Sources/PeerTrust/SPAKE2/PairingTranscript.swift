import Cryptography
import Foundation
import PeerProtocol

/// The SPAKE2 inputs that both sides of `hpeer-pair/1` must agree on: the identities and the additional authenticated
/// data.
///
/// `L(x)` is the length as two bytes, big-endian, and then the bytes.
struct PairingTranscript: Sendable {
  var serverID: PeerID
  /// The fingerprint of the server's certificate in this TLS connection, as each side sees it. An attacker in the
  /// middle makes the two differ.
  var serverFingerprint: Fingerprint
  var clientID: PeerID
  /// The fingerprint of the client's certificate under mutual TLS; `nil` if it shows none.
  var clientFingerprint: Fingerprint?
  var clientName: String
  /// The client's versions in its own order, so that an attacker cannot remove the better ones.
  var offeredVersions: [String]

  var identityA: [UInt8] {
    Array("\(PairingProtocol.version) client\0".utf8) + Self.prefixed(clientID.bytes)
      + Self.prefixed(clientFingerprint?.bytes ?? []) + Self.prefixed(Array(clientName.utf8))
  }

  /// The identity of B. It includes the fingerprint, which the additional data alone would not protect: Ke depends
  /// only on the identities.
  var identityB: [UInt8] {
    Array("\(PairingProtocol.version) server\0".utf8) + Self.prefixed(serverID.bytes)
      + Self.prefixed(serverFingerprint.bytes)
  }

  func additionalData(session: [UInt8]) -> [UInt8] {
    Array("\(PairingProtocol.version)\0".utf8) + Self.prefixed(session)
      + Self.prefixed(Array(PairingProtocol.suite.utf8)) + Self.prefixed(Array(PairingProtocol.binding.utf8))
      + Self.prefixed(Array(offeredVersions.joined(separator: ",").utf8))
  }

  static func prefixed(_ bytes: [UInt8]) -> [UInt8] {
    // The longest part is the version list: eight versions of 32 bytes and the commas.
    [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
  }
}

/// The secrets that both sides derive from `hpeer-pair/1`: a token that is never transmitted, and a key for the
/// receipt.
struct PairingSecrets: Sendable {
  let token: BearerToken
  let receiptKey: SymmetricKey

  init(keys: SPAKE2Keys, additionalData: [UInt8]) {
    let root = HKDF.extract(inputKeyMaterial: keys.ke, salt: Array(SHA256.hash(data: additionalData)))
    func expand(_ label: String) -> SymmetricKey {
      HKDF.expand(
        pseudoRandomKey: root, info: Array("\(PairingProtocol.version) \(label)".utf8), outputByteCount: 32)
    }
    token = BearerToken(exactly: expand("token").withUnsafeBytes { Array($0) })
    receiptKey = expand("receipt")
  }

  /// Returns the HMAC over the session and the statements about the token; see ``PairFinishResponse/receipt``.
  /// - Throws: `badField("expiresAt")`.
  func receipt(session: [UInt8], expiresAt: Date) throws(PairMessageError) -> [UInt8] {
    let seconds = try PairFinishResponse.seconds(of: expiresAt)
    var message = Array("\(PairingProtocol.version) receipt\0".utf8) + session + token.hash.bytes.prefix(8)
    withUnsafeBytes(of: seconds.bigEndian) { message.append(contentsOf: $0) }
    return HMAC.authenticationCode(for: message, using: receiptKey)
  }
}
