import COpenSSL
import Foundation

/// A cryptographic hash function that accepts its input in pieces.
///
/// A hasher is a value: a copy continues from the same state, so a common prefix of many inputs needs to be hashed
/// only once.
public protocol HashFunction: Sendable {
  /// The hash of an input.
  associatedtype Digest: DigestBytes

  /// Creates a hasher without input.
  init()

  /// Adds input.
  mutating func update(bufferPointer: UnsafeRawBufferPointer)

  /// Returns the hash of the input so far. More input may be added afterwards.
  func finalize() -> Digest
}

extension HashFunction {
  /// Returns the hash of a whole input.
  ///
  /// ```swift
  /// let digest = SHA256.hash(data: Array("abc".utf8))
  /// ```
  public static func hash(data: some ContiguousBytes) -> Digest {
    var hasher = Self()
    hasher.update(data: data)
    return hasher.finalize()
  }

  /// Adds input.
  public mutating func update(data: some ContiguousBytes) {
    data.withUnsafeBytes { update(bufferPointer: $0) }
  }
}

// libcrypto's hashers are called directly rather than through EVP, which allocates for each hash: a digest of a store
// hashes a few dozen bytes a million times. They are the same code, and the context is a plain value.

/// SHA-256 (FIPS 180-4).
public struct SHA256: HashFunction {
  /// The number of bytes of a hash.
  public static let byteCount = 32

  private var context = SHA256_CTX()

  public init() { SHA256_Init(&context) }

  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {
    SHA256_Update(&context, bufferPointer.baseAddress, bufferPointer.count)
  }

  public func finalize() -> SHA256Digest {
    SHA256Digest { finalize(into: $0) }
  }

  /// Writes the hash to 32 bytes, without leaving a copy elsewhere.
  package func finalize(into bytes: UnsafeMutableRawBufferPointer) {
    precondition(bytes.count == Self.byteCount, "SHA-256 has 32 bytes")
    var context = context
    SHA256_Final(bytes.bindMemory(to: UInt8.self).baseAddress, &context)
    OPENSSL_cleanse(&context, MemoryLayout.size(ofValue: context))
  }
}

/// SHA-512 (FIPS 180-4).
public struct SHA512: HashFunction {
  /// The number of bytes of a hash.
  public static let byteCount = 64

  private var context = SHA512_CTX()

  public init() { SHA512_Init(&context) }

  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {
    SHA512_Update(&context, bufferPointer.baseAddress, bufferPointer.count)
  }

  public func finalize() -> SHA512Digest {
    var context = context
    return SHA512Digest { SHA512_Final($0.bindMemory(to: UInt8.self).baseAddress, &context) }
  }
}

/// Hash functions that are no longer secure, for formats that require them.
public enum Insecure {
  /// The hash function SHA-1 (FIPS 180-4), used for version 5 UUIDs (RFC 9562 section 5.5).
  public struct SHA1: HashFunction {
    /// The number of bytes of a hash.
    public static let byteCount = 20

    private var context = SHA_CTX()

    public init() { SHA1_Init(&context) }

    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {
      SHA1_Update(&context, bufferPointer.baseAddress, bufferPointer.count)
    }

    public func finalize() -> SHA1Digest {
      var context = context
      return SHA1Digest { SHA1_Final($0.bindMemory(to: UInt8.self).baseAddress, &context) }
    }
  }
}
