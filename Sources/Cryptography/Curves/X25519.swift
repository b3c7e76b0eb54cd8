import COpenSSL

/// X25519 (RFC 7748), a key agreement on Curve25519.
public enum X25519 {
  /// The number of bytes of a public key, a private key and a shared secret.
  public static let byteCount = 32

  /// A public key.
  public struct PublicKey: Sendable, Hashable {
    /// The key's 32 bytes (section 5).
    public let bytes: [UInt8]

    /// Creates a key from its bytes, or returns nil if there are not 32 of them.
    public init?(bytes: some Collection<UInt8>) {
      guard bytes.count == byteCount else { return nil }
      self.bytes = Array(bytes)
    }
  }

  /// A private key.
  public struct PrivateKey: Sendable {
    private let secret: SymmetricKey
    /// The public key that belongs to it.
    public let publicKey: PublicKey

    /// Creates a random key.
    public init() {
      guard let key = PrivateKey(SymmetricKey(size: byteCount)) else { preconditionFailure("any 32 bytes are a key") }
      self = key
    }

    /// Creates a key from its bytes, or returns nil if there are not 32 of them.
    public init?(bytes: some Collection<UInt8>) { self.init(SymmetricKey(data: Array(bytes))) }

    private init?(_ secret: SymmetricKey) {
      guard secret.count == byteCount else { return nil }
      self.secret = secret
      let key = Self.key(secret)
      defer { EVP_PKEY_free(key) }
      var (bytes, count) = ([UInt8](repeating: 0, count: byteCount), byteCount)
      guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, let publicKey = PublicKey(bytes: bytes) else {
        preconditionFailure("a private key has a public one: \(OpenSSLError("X25519").reason)")
      }
      self.publicKey = publicKey
    }

    /// The key's 32 bytes, secret.
    public var bytes: [UInt8] { secret.withUnsafeBytes { Array($0) } }

    /// Returns the secret shared by this key and another's public key, or nil if it is all zeros, as with a public
    /// key of small order (section 6.1).
    public func sharedSecret(with other: PublicKey) -> SymmetricKey? {
      let own = Self.key(secret)
      let peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, other.bytes, other.bytes.count)
      let context = EVP_PKEY_CTX_new(own, nil)
      defer {
        EVP_PKEY_free(own)
        EVP_PKEY_free(peer)
        EVP_PKEY_CTX_free(context)
        ERR_clear_error()
      }
      var (shared, count) = ([UInt8](repeating: 0, count: byteCount), byteCount)
      guard let peer, let context, EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer) == 1,
        EVP_PKEY_derive(context, &shared, &count) == 1, count == byteCount, shared.contains(where: { $0 != 0 })
      else { return nil }
      return SymmetricKey(consuming: shared)
    }

    private static func key(_ secret: SymmetricKey) -> OpaquePointer {
      let key = secret.withUnsafeBytes {
        EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
      }
      guard let key else { preconditionFailure("X25519 is missing in libcrypto: \(OpenSSLError("X25519").reason)") }
      return key
    }
  }
}
