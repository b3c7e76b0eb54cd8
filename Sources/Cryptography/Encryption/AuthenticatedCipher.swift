import COpenSSL

/// Authenticated encryption with a 32-byte key, a 12-byte nonce and a 16-byte tag.
///
/// A nonce is used once with a key.
///
/// ```swift
/// let (key, nonce) = (SymmetricKey(size: 32), [UInt8](repeating: 0, count: 12))
/// let sealed = AuthenticatedCipher.chaCha20Poly1305.seal(Array("hello".utf8), using: key, nonce: nonce)
/// let opened = AuthenticatedCipher.chaCha20Poly1305.open(sealed, using: key, nonce: nonce)
/// ```
public enum AuthenticatedCipher: Sendable {
  /// ChaCha20-Poly1305 (RFC 8439).
  case chaCha20Poly1305
  /// AES-256 in Galois/Counter Mode (NIST SP 800-38D).
  case aes256GCM

  /// The number of bytes of a key.
  public static let keyByteCount = 32
  /// The number of bytes of a nonce.
  public static let nonceByteCount = 12
  /// The number of bytes of a tag, which is appended to the encrypted message.
  public static let tagByteCount = 16

  /// Returns the encrypted message, followed by its tag.
  ///
  /// - Parameter additionalData: bytes that are authenticated, but not encrypted.
  public func seal(
    _ message: [UInt8], using key: SymmetricKey, nonce: [UInt8], authenticating additionalData: [UInt8] = []
  ) -> [UInt8] {
    let context = start(key, nonce, additionalData, isSealing: true)
    defer { EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: message.count + Self.tagByteCount)
    var (count, rest) = (Int32(0), Int32(0))
    let isSealed = sealed.withUnsafeMutableBufferPointer { sealed in
      EVP_EncryptUpdate(context, sealed.baseAddress, &count, message, Int32(message.count)) == 1
        && EVP_EncryptFinal_ex(context, sealed.baseAddress.map { $0 + Int(count) }, &rest) == 1
        && EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), sealed.baseAddress.map { $0 + message.count }) == 1
    }
    precondition(isSealed && Int(count + rest) == message.count, "a stream cipher fails only without memory")
    return sealed
  }

  /// Returns the message, or nil if the tag does not match the bytes, the key and the additional data.
  public func open(
    _ sealed: some Collection<UInt8>, using key: SymmetricKey, nonce: [UInt8],
    authenticating additionalData: [UInt8] = []
  ) -> [UInt8]? {
    guard sealed.count >= Self.tagByteCount else { return nil }
    let context = start(key, nonce, additionalData, isSealing: false)
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    let encrypted = Array(sealed.dropLast(Self.tagByteCount))
    var tag = Array(sealed.suffix(Self.tagByteCount))
    var message = [UInt8](repeating: 0, count: encrypted.count)
    var (count, rest) = (Int32(0), Int32(0))
    // A nil output would declare the input to be additional data.
    var nothing: UInt8 = 0
    let isOpened = message.withUnsafeMutableBufferPointer { message in
      withUnsafeMutablePointer(to: &nothing) { nothing in
        EVP_DecryptUpdate(context, message.baseAddress ?? nothing, &count, encrypted, Int32(encrypted.count)) == 1
          && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), &tag) == 1
          && EVP_DecryptFinal_ex(context, message.baseAddress.map { $0 + Int(count) } ?? nothing, &rest) == 1
      }
    }
    return isOpened ? message : nil
  }

  /// Returns a context with the key, the nonce and the additional data.
  private func start(
    _ key: SymmetricKey, _ nonce: [UInt8], _ additionalData: [UInt8], isSealing: Bool
  ) -> OpaquePointer {
    precondition(key.count == Self.keyByteCount && nonce.count == Self.nonceByteCount, "lengths of this cipher")
    let cipher =
      switch self {
      case .chaCha20Poly1305: EVP_chacha20_poly1305()
      case .aes256GCM: EVP_aes_256_gcm()
      }
    var count: Int32 = 0
    guard let context = EVP_CIPHER_CTX_new(),
      key.withUnsafeBytes({
        EVP_CipherInit_ex(context, cipher, nil, $0.bindMemory(to: UInt8.self).baseAddress, nonce, isSealing ? 1 : 0)
      }) == 1,
      additionalData.isEmpty
        || EVP_CipherUpdate(context, nil, &count, additionalData, Int32(additionalData.count)) == 1
    else { preconditionFailure("\(self) is missing in libcrypto: \(OpenSSLError("EVP_CipherInit_ex").reason)") }
    return context
  }
}
