import COpenSSL

/// The elliptic curve P-256 (FIPS 186-4), with the points M and N of SPAKE2 (RFC 9382 section 6).
///
/// Every multiplication uses one scalar, because `EC_POINT_mul` is only then constant-time.
///
/// Unchecked because group, order and points never change after `init`, and OpenSSL only reads them; each call has
/// its own context.
package final class P256: @unchecked Sendable {
  /// The group order n, big-endian.
  package static let orderBytes: [UInt8] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
  ]
  /// The point M of RFC 9382 section 6, compressed.
  package static let mBytes: [UInt8] = [
    0x02, 0x88, 0x6e, 0x2f, 0x97, 0xac, 0xe4, 0x6e, 0x55, 0xba, 0x9d, 0xd7, 0x24, 0x25, 0x79, 0xf2, 0x99,
    0x3b, 0x64, 0xe1, 0x6e, 0xf3, 0xdc, 0xab, 0x95, 0xaf, 0xd4, 0x97, 0x33, 0x3d, 0x8f, 0xa1, 0x2f,
  ]
  /// The point N of RFC 9382 section 6, compressed.
  package static let nBytes: [UInt8] = [
    0x03, 0xd8, 0xbb, 0xd6, 0xc6, 0x39, 0xc6, 0x29, 0x37, 0xb0, 0x4d, 0x99, 0x7f, 0x38, 0xc3, 0x77, 0x07,
    0x19, 0xc6, 0x29, 0xd7, 0x01, 0x4d, 0x49, 0xa2, 0x4b, 0x4f, 0x98, 0xba, 0xa1, 0x29, 0x2b, 0x49,
  ]

  /// The length of an uncompressed point (SEC 1 section 2.3.3).
  private static let encodedByteCount = 65

  let group: OpaquePointer
  let order: OpaquePointer

  private static let instance: Result<P256, P256Error> = {
    // A locked, guarded heap for the scalars. If the system refuses it, BN_secure_new takes the ordinary heap.
    if CRYPTO_secure_malloc_initialized() == 0 { _ = CRYPTO_secure_malloc_init(262_144, 32) }
    return Result { () throws(P256Error) in try P256() }
  }()

  /// Returns the shared group. It is created at the first use, which also decodes and checks M and N.
  package static func shared() throws(P256Error) -> P256 { try instance.get() }

  private init() throws(P256Error) {
    guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
      throw .openSSL(OpenSSLError("EC_GROUP_new_by_curve_name"))
    }
    guard let order = BN_bin2bn(Self.orderBytes, Int32(Self.orderBytes.count), nil) else {
      EC_GROUP_free(group)
      throw .openSSL(OpenSSLError("BN_bin2bn"))
    }
    self.group = group
    self.order = order
    _ = try decode(Self.mBytes)
    _ = try decode(Self.nBytes)
  }

  deinit {
    EC_GROUP_free(group)
    BN_free(order)
  }

  /// Decodes a peer's share: 65 bytes `04 ‖ X ‖ Y`, on the curve, not the identity.
  package func decodeShare(_ bytes: [UInt8]) throws(P256Error) -> Point {
    guard bytes.count == 65, bytes[0] == 0x04 else { throw .invalidShare }
    return try decode(bytes)
  }

  /// Decodes a point on the curve in any SEC 1 encoding; throws for the identity.
  package func decode(_ bytes: [UInt8]) throws(P256Error) -> Point {
    let point = try Point(self)
    guard EC_POINT_oct2point(group, point.pointer, bytes, bytes.count, nil) == 1,
      EC_POINT_is_on_curve(group, point.pointer, nil) == 1, EC_POINT_is_at_infinity(group, point.pointer) == 0
    else {
      ERR_clear_error()
      throw .invalidShare
    }
    return point
  }

  /// Returns scalar · P, where P is the base point.
  package func multiplyBase(by scalar: Scalar) throws(P256Error) -> Point {
    let result = try Point(self)
    guard EC_POINT_mul(group, result.pointer, scalar.pointer, nil, nil, nil) == 1 else {
      throw .openSSL(OpenSSLError("EC_POINT_mul"))
    }
    return result
  }

  /// Returns scalar · point.
  package func multiply(_ point: Point, by scalar: Scalar) throws(P256Error) -> Point {
    let result = try Point(self)
    guard EC_POINT_mul(group, result.pointer, nil, point.pointer, scalar.pointer, nil) == 1 else {
      throw .openSSL(OpenSSLError("EC_POINT_mul"))
    }
    return result
  }

  package func add(_ first: Point, _ second: Point) throws(P256Error) -> Point {
    let result = try Point(self)
    guard EC_POINT_add(group, result.pointer, first.pointer, second.pointer, nil) == 1 else {
      throw .openSSL(OpenSSLError("EC_POINT_add"))
    }
    return result
  }

  package func subtract(_ second: Point, from first: Point) throws(P256Error) -> Point {
    let negative = try Point(self)
    guard EC_POINT_copy(negative.pointer, second.pointer) == 1,
      EC_POINT_invert(group, negative.pointer, nil) == 1
    else { throw .openSSL(OpenSSLError("EC_POINT_invert")) }
    return try add(first, negative)
  }

  /// Returns the uncompressed SEC 1 encoding, 65 bytes.
  /// - Throws: `degenerate` for the identity, which has no such encoding.
  package func encode(_ point: Point) throws(P256Error) -> [UInt8] {
    guard EC_POINT_is_at_infinity(group, point.pointer) == 0 else { throw .degenerate }
    var bytes = [UInt8](repeating: 0, count: Self.encodedByteCount)
    let count = EC_POINT_point2oct(group, point.pointer, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
    guard count == bytes.count else { throw .openSSL(OpenSSLError("EC_POINT_point2oct")) }
    return bytes
  }

  /// Returns the encoding of a secret point.
  /// - Throws: `degenerate`.
  package func encodeSecret(_ point: Point) throws(P256Error) -> SecretBytes {
    guard EC_POINT_is_at_infinity(group, point.pointer) == 0 else { throw .degenerate }
    var bytes = SecretBytes(count: Self.encodedByteCount)
    let count = bytes.withMutableBytes { bytes in
      EC_POINT_point2oct(
        group, point.pointer, POINT_CONVERSION_UNCOMPRESSED, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count,
        nil)
    }
    guard count == Self.encodedByteCount else { throw .openSSL(OpenSSLError("EC_POINT_point2oct")) }
    return bytes
  }

  /// A point, managed by OpenSSL and wiped when it is freed. Not shared between threads.
  package final class Point {
    let pointer: OpaquePointer

    init(_ curve: P256) throws(P256Error) {
      guard let pointer = EC_POINT_new(curve.group) else { throw .openSSL(OpenSSLError("EC_POINT_new")) }
      self.pointer = pointer
    }

    deinit { EC_POINT_clear_free(pointer) }
  }
}

/// A failure of arithmetic on P-256. None of the cases says anything about a secret.
package enum P256Error: Error, Hashable, Sendable {
  /// A peer's share is the identity, or not an uncompressed point on the curve.
  case invalidShare
  /// A result is the identity, which only a dishonest peer can cause.
  case degenerate
  /// A scalar is not in [1, n).
  case invalidScalar
  case openSSL(OpenSSLError)
}
