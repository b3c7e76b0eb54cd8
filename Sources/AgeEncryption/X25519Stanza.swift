import Crypto
import Foundation

/// `X25519`: the file's key under one that both the recipient and an ephemeral key lead to.
enum X25519Stanza {
  static let kind = "X25519"
  private static let info = Data("age-encryption.org/v1/X25519".utf8)

  static func wrap(
    _ fileKey: SymmetricKey, to recipient: Curve25519.KeyAgreement.PublicKey,
    ephemeral: Curve25519.KeyAgreement.PrivateKey = .init()
  ) throws(AgeError) -> AgeStanza {
    let share = ephemeral.publicKey.rawRepresentation
    guard let key = wrappingKey(ephemeral, recipient, share: share, recipient: recipient) else {
      throw .badRecipient("A key of small order")
    }
    let text = String(decoding: UnpaddedBase64.encode(Array(share)), as: UTF8.self)
    return AgeStanza([kind, text], FileKey.seal(fileKey, with: key))
  }

  /// `nil` where it is another's.
  static func unwrap(_ stanza: AgeStanza, with secret: Curve25519.KeyAgreement.PrivateKey) throws(AgeError)
    -> SymmetricKey?
  {
    guard stanza.arguments.count == 2, let share = UnpaddedBase64.decode(Array(stanza.arguments[1].utf8)),
      share.count == 32, stanza.body.count == FileKey.sealedCount,
      let peer = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: share),
      let key = wrappingKey(secret, peer, share: Data(share), recipient: secret.publicKey)
    else { throw .malformedHeader("an X25519 recipient that is none") }
    return FileKey.open(stanza.body, with: key)
  }

  /// `nil` where what both lead to is zero, as with a share of small order.
  private static func wrappingKey(
    _ secret: Curve25519.KeyAgreement.PrivateKey, _ peer: Curve25519.KeyAgreement.PublicKey, share: Data,
    recipient: Curve25519.KeyAgreement.PublicKey
  ) -> SymmetricKey? {
    guard let shared = try? secret.sharedSecretFromKeyAgreement(with: peer),
      shared.withUnsafeBytes({ bytes in bytes.contains { $0 != 0 } })
    else { return nil }
    return shared.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: share + recipient.rawRepresentation, sharedInfo: info, outputByteCount: 32)
  }
}
