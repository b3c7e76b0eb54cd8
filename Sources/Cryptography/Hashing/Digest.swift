import Foundation

/// A hash value: a sequence of bytes that is stored without an allocation.
public protocol DigestBytes: Sequence<UInt8>, ContiguousBytes, Hashable, Sendable {
  /// The number of bytes.
  static var byteCount: Int { get }
}

extension DigestBytes {
  /// The number of bytes.
  public var count: Int { Self.byteCount }

  public var underestimatedCount: Int { Self.byteCount }

  public func makeIterator() -> Array<UInt8>.Iterator { withUnsafeBytes { Array($0) }.makeIterator() }

  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    try withUnsafeBytes { try body($0.bindMemory(to: UInt8.self)) }
  }
}

/// A SHA-256 hash, 32 bytes.
public struct SHA256Digest: DigestBytes {
  public static let byteCount = SHA256.byteCount

  private var words: SIMD4<UInt64> = .zero

  init(_ write: (UnsafeMutableRawBufferPointer) -> Void) { withUnsafeMutableBytes(of: &words, write) }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try Swift.withUnsafeBytes(of: words, body)
  }
}

/// A SHA-512 hash, 64 bytes.
public struct SHA512Digest: DigestBytes {
  public static let byteCount = SHA512.byteCount

  private var words: SIMD8<UInt64> = .zero

  init(_ write: (UnsafeMutableRawBufferPointer) -> Void) { withUnsafeMutableBytes(of: &words, write) }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try Swift.withUnsafeBytes(of: words, body)
  }
}

/// A SHA-1 hash, 20 bytes.
public struct SHA1Digest: DigestBytes {
  public static let byteCount = Insecure.SHA1.byteCount

  // 32 bytes, of which the first 20 are the hash and the others stay zero.
  private var words: SIMD4<UInt64> = .zero

  init(_ write: (UnsafeMutableRawBufferPointer) -> Void) { withUnsafeMutableBytes(of: &words, write) }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try Swift.withUnsafeBytes(of: words) { try body(UnsafeRawBufferPointer(rebasing: $0[..<Self.byteCount])) }
  }
}
