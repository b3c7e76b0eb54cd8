import Cryptography

/// The `X25519` stanza: the file key wrapped with a key derived from the recipient's key and an ephemeral key.
enum X25519Stanza {
  static let kind = "X25519"
  private static let info = Array("age-encryption.org/v1/X25519".utf8)

  static func wrap(
    _ fileKey: SymmetricKey, to recipient: X25519.PublicKey,
    ephemeral: X25519.PrivateKey = .init()
  ) throws(AgeError) -> AgeStanza {
    let share = ephemeral.publicKey.bytes
    guard let key = wrappingKey(ephemeral, recipient, share: share, recipient: recipient) else {
      throw .badRecipient("A key of small order")
    }
    let text = String(decoding: UnpaddedBase64.encode(share), as: UTF8.self)
    return AgeStanza([kind, text], FileKey.seal(fileKey, with: key))
  }

  /// Unwraps the file key; `nil` if it was wrapped for another recipient.
  static func unwrap(_ stanza: AgeStanza, with secret: X25519.PrivateKey) throws(AgeError)
    -> SymmetricKey?
  {
    guard stanza.arguments.count == 2, let share = UnpaddedBase64.decode(Array(stanza.arguments[1].utf8)),
      stanza.body.count == FileKey.sealedCount,
      let peer = X25519.PublicKey(bytes: share),
      let key = wrappingKey(secret, peer, share: share, recipient: secret.publicKey)
    else { throw .malformedHeader("an X25519 recipient that is none") }
    return FileKey.open(stanza.body, with: key)
  }

  /// Returns the key that wraps the file key, or nil for a share of small order.
  private static func wrappingKey(
    _ secret: X25519.PrivateKey, _ peer: X25519.PublicKey, share: [UInt8], recipient: X25519.PublicKey
  ) -> SymmetricKey? {
    secret.sharedSecret(with: peer).map { shared in
      HKDF.deriveKey(inputKeyMaterial: shared, salt: share + recipient.bytes, info: info, outputByteCount: 32)
    }
  }
}
