import COpenSSL
import Foundation

/// A secret key of any length, whose memory is overwritten when its last copy is released.
public struct SymmetricKey: Sendable, Equatable {
  private let storage: Storage

  /// Creates a key from bytes, which the caller must overwrite.
  public init(data: some ContiguousBytes) {
    storage = data.withUnsafeBytes { Storage($0) }
  }

  /// Creates a random key of this many bytes.
  public init(size: Int) { self.init(consuming: SecureRandom.bytes(size)) }

  /// Creates a key from an array that is overwritten afterwards.
  init(consuming bytes: consuming [UInt8]) {
    storage = bytes.withUnsafeBytes { Storage($0) }
    bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
  }

  /// The number of bytes.
  public var count: Int { storage.bytes.count }

  /// Calls a closure with the key's bytes, which it must not keep.
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(storage) { try body(UnsafeRawBufferPointer(storage.bytes)) }
  }

  public static func == (first: SymmetricKey, second: SymmetricKey) -> Bool {
    first.withUnsafeBytes { first in second.withUnsafeBytes { ConstantTime.equal(first, $0) } }
  }

  /// Unchecked because the bytes never change after `init` and are freed by the last owner.
  private final class Storage: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
      self.bytes = .allocate(byteCount: bytes.count, alignment: 8)
      self.bytes.copyMemory(from: bytes)
    }

    deinit {
      // Unlike an assignment, this call may not be removed by the compiler.
      OPENSSL_cleanse(bytes.baseAddress, bytes.count)
      bytes.deallocate()
    }
  }
}

extension SymmetricKey: ContiguousBytes {}

/// Comparisons whose time does not depend on where two secrets differ.
package enum ConstantTime {
  package static func equal(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.withUnsafeBytes { first in second.withUnsafeBytes { equal(first, $0) } }
  }

  package static func equal(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
    guard first.count == second.count else { return false }
    guard let first = first.baseAddress, let other = second.baseAddress else { return true }
    return CRYPTO_memcmp(first, other, second.count) == 0
  }
}
