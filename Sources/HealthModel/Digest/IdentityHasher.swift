import Cryptography
import Foundation

/// A hasher of the identities of samples and tombstones of one type. The hash is the first 16 bytes, as a big-endian
/// number, of
///
///     SHA-256(0x53, key, start, end, UUID)    a sample, 49 bytes
///     SHA-256(0x54, key, start, UUID)         a tombstone, 41 bytes
///
/// where `key` is the first 16 bytes of SHA-256("hpeer-digest/1 type ", identifier), instants are microseconds since
/// 1970 as big-endian 64-bit integers, and the UUID is its 16 bytes. Each input fits a single SHA-256 block,
/// regardless of the length of the type's identifier.
public struct IdentityHasher: Sendable {
  private static let sampleTag: UInt8 = 0x53
  private static let tombstoneTag: UInt8 = 0x54
  /// The message to be hashed: tag, key, two instants and a UUID. A tombstone has no second instant.
  private var message = [UInt8](repeating: 0, count: 1 + 16 + 8 + 8 + 16)

  /// Creates a hasher for samples and tombstones of one type, whose identifier is hashed once.
  public init(_ type: SampleType) {
    var hasher = SHA256()
    for bytes in [Array("hpeer-digest/1 type ".utf8), Array(type.rawValue.utf8)] { hasher.update(data: bytes) }
    message.replaceSubrange(1..<17, with: Array(hasher.finalize()).prefix(16))
  }

  /// Returns the hash of a sample from its database columns.
  ///
  /// - Parameters:
  ///   - start: microseconds since 1970; so is `end`.
  ///   - uuid: 16 bytes.
  public mutating func sample(start: Int64, end: Int64, uuid: UnsafeRawBufferPointer) -> UInt128 {
    hash(Self.sampleTag, 49) { message in
      message.storeBytes(of: start.bigEndian, toByteOffset: 17, as: Int64.self)
      message.storeBytes(of: end.bigEndian, toByteOffset: 25, as: Int64.self)
      UnsafeMutableRawBufferPointer(rebasing: message[33..<49]).copyMemory(from: uuid)
    }
  }

  /// Returns the hash of a tombstone from its database columns.
  ///
  /// - Parameters:
  ///   - start: microseconds since 1970.
  ///   - uuid: 16 bytes.
  public mutating func tombstone(start: Int64, uuid: UnsafeRawBufferPointer) -> UInt128 {
    hash(Self.tombstoneTag, 41) { message in
      message.storeBytes(of: start.bigEndian, toByteOffset: 17, as: Int64.self)
      UnsafeMutableRawBufferPointer(rebasing: message[25..<41]).copyMemory(from: uuid)
    }
  }

  private mutating func hash(_ tag: UInt8, _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) -> UInt128 {
    message.withUnsafeMutableBytes { message in
      message[0] = tag
      fill(message)
      return UInt128(prefixOf: SHA256.hash(data: UnsafeRawBufferPointer(rebasing: message[..<count])))
    }
  }
}

extension IdentityHasher {
  /// Returns the hash of a sample.
  ///
  /// - Precondition: the sample has the type with which the hasher was created. This is not checked.
  public mutating func sample(_ sample: Sample) -> UInt128 {
    withUnsafeBytes(of: sample.uuid.uuid) {
      self.sample(start: sample.start.microseconds, end: sample.end.microseconds, uuid: $0)
    }
  }

  /// Returns the hash of the tombstone of a sample. The time of deletion is not part of it.
  public mutating func tombstone(_ reference: SampleReference) -> UInt128 {
    withUnsafeBytes(of: reference.uuid.uuid) { tombstone(start: reference.start.microseconds, uuid: $0) }
  }
}

extension UInt128 {
  /// Creates a number from the first 16 bytes of a hash, in big-endian order.
  init(prefixOf digest: SHA256.Digest) {
    self = digest.withUnsafeBytes { bytes in
      let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      return UInt128(high) << 64 | UInt128(low)
    }
  }
}
