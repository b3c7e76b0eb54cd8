import Crypto
import Foundation
import PeerProtocol

/// What a finished run of `hpeer-pair/1` leaves on both sides: a token that never travelled, and a key for the receipt.
struct PairingSecrets: Sendable {
  let token: BearerToken
  let receiptKey: SymmetricKey

  init(keys: SPAKE2Keys, additionalData: [UInt8]) {
    // Where it lies is swift-crypto's to say: SECURITY.md.
    let root = HKDF<SHA256>.extract(inputKeyMaterial: keys.ke, salt: Array(SHA256.hash(data: additionalData)))
    func expand(_ label: String) -> SymmetricKey {
      HKDF<SHA256>.expand(
        pseudoRandomKey: root, info: Array("\(PairingProtocol.version) \(label)".utf8), outputByteCount: 32)
    }
    token = BearerToken(exactly: expand("token").withUnsafeBytes { Array($0) })
    receiptKey = expand("receipt")
  }

  /// HMAC over the session and what the client is told about its token; see ``PairFinishResponse/receipt``.
  /// - Throws: `badField("expiresAt")`.
  func receipt(session: [UInt8], expiresAt: Date) throws(PairMessageError) -> [UInt8] {
    let seconds = try PairFinishResponse.seconds(of: expiresAt)
    var message = Array("\(PairingProtocol.version) receipt\0".utf8) + session + token.hash.bytes.prefix(8)
    withUnsafeBytes(of: seconds.bigEndian) { message.append(contentsOf: $0) }
    return Array(HMAC<SHA256>.authenticationCode(for: message, using: receiptKey))
  }
}
