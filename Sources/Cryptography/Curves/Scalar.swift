import COpenSSL

/// A secret scalar of P-256 in [1, n), in OpenSSL's secure heap and wiped when it is freed.
///
/// Unchecked because the number behind the pointer never changes after `init`, and OpenSSL only reads it.
package final class Scalar: @unchecked Sendable {
  package static let byteCount = 32

  let pointer: OpaquePointer

  private init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { BN_clear_free(pointer) }

  /// Returns a new scalar, uniform over [1, n), from OpenSSL's private generator.
  package static func random() throws(P256Error) -> Scalar {
    let order = try P256.shared().order
    let number = try makeNumber()
    // Zero occurs once in 2^256 draws.
    repeat {
      guard BN_priv_rand_range(number, order) == 1 else {
        BN_clear_free(number)
        throw .openSSL(OpenSSLError("BN_priv_rand_range"))
      }
    } while BN_is_zero(number) == 1
    return Scalar(owning: number)
  }

  /// Creates a scalar from its 32 bytes, big-endian.
  /// - Throws: `invalidScalar` for 0, for n and above, and for any other length.
  package convenience init(bytes: [UInt8]) throws(P256Error) {
    guard bytes.count == Self.byteCount, Self.isInRange(bytes) else { throw .invalidScalar }
    let number = try Self.makeNumber()
    guard BN_bin2bn(bytes, Int32(bytes.count), number) != nil else {
      BN_clear_free(number)
      throw .openSSL(OpenSSLError("BN_bin2bn"))
    }
    self.init(owning: number)
  }

  /// Creates a scalar from a longer big-endian number modulo n. Sixteen surplus bytes make the bias negligible (RFC
  /// 9382 section 3.2).
  /// - Throws: `invalidScalar` if the remainder is 0.
  package convenience init(reducing wide: borrowing SecretBytes) throws(P256Error) {
    let order = try P256.shared().order
    let number = try Self.makeNumber()
    let input = BN_secure_new()
    let context = BN_CTX_secure_new()
    defer {
      BN_clear_free(input)
      BN_CTX_free(context)
    }
    let isRead = wide.withBytes { wide in
      BN_bin2bn(wide.bindMemory(to: UInt8.self).baseAddress, Int32(wide.count), input) != nil
    }
    guard let input, let context, isRead else {
      BN_clear_free(number)
      throw .openSSL(OpenSSLError("BN_bin2bn"))
    }
    BN_set_flags(input, BN_FLG_CONSTTIME)
    guard BN_nnmod(number, input, order, context) == 1 else {
      BN_clear_free(number)
      throw .openSSL(OpenSSLError("BN_nnmod"))
    }
    guard BN_is_zero(number) == 0 else {
      BN_clear_free(number)
      throw .invalidScalar
    }
    self.init(owning: number)
  }

  /// Returns the 32 bytes, big-endian.
  package func bytes() -> SecretBytes {
    var bytes = SecretBytes(count: Self.byteCount)
    let count = bytes.withMutableBytes { bytes in
      BN_bn2binpad(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count))
    }
    precondition(count == Int32(Self.byteCount), "a scalar below n has at most 32 bytes")
    return bytes
  }

  private static func makeNumber() throws(P256Error) -> OpaquePointer {
    guard let number = BN_secure_new() else { throw .openSSL(OpenSSLError("BN_secure_new")) }
    BN_set_flags(number, BN_FLG_CONSTTIME)
    return number
  }

  /// Returns whether 1 ≤ bytes < n, without branching on any byte.
  private static func isInRange(_ bytes: [UInt8]) -> Bool {
    var borrow: UInt16 = 0
    var bits: UInt8 = 0
    for index in bytes.indices.reversed() {
      let difference = UInt16(bytes[index]) &- UInt16(P256.orderBytes[index]) &- borrow
      borrow = difference >> 15
      bits |= bytes[index]
    }
    return borrow == 1 && bits != 0
  }
}
