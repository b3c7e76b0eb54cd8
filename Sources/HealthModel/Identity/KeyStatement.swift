import Cryptography
import Foundation

/// The statement (such as an export) that a record belongs to, for records that share a key.
///
/// A store keeps only the records of the newest statement of a key. Records of older statements are removed without
/// tombstones. Therefore each record carries the ``stamp`` of its statement, and a tombstone names ``content``
/// instead of an identity, which another record of the key may have by now.
public struct KeyStatement: Hashable, Sendable {
  /// The identity of the first record of the key.
  public var key: UUID
  /// The stamp of the statement, made of its time and its values.
  public var stamp: Stamp
  /// A UUID derived from the record's value and its rank among equal values of the statement.
  public var content: UUID

  /// The time and values of a statement, by which the statements of a key are ordered.
  public struct Stamp: Hashable, Sendable, Comparable {
    /// The date of the export.
    public var said: Timestamp
    /// The number of records in the upper 16 bits and a hash of their values in the lower 48. Statements with the
    /// same time and equal values are the same statement.
    public var values: UInt64

    /// The number of records. 65,535 also stands for larger numbers.
    package var count: Int { Int(values >> 48) }

    /// Creates a stamp from a time and packed ``values``.
    public init(said: Timestamp, values: UInt64) {
      (self.said, self.values) = (said, values)
    }

    public static func < (one: Self, other: Self) -> Bool {
      one.said == other.said ? one.values < other.values : one.said < other.said
    }
  }

  /// Creates the statement of a single record. Use ``all(of:key:said:)`` for all records of a key.
  public init(key: UUID, stamp: Stamp, content: UUID) {
    (self.key, self.stamp, self.content) = (key, stamp, content)
  }

  /// Returns the statement of each record of a key, in the order of `samples`.
  ///
  /// - Parameter samples: all records of the key.
  public static func all(of samples: [Sample], key: UUID, said: Timestamp) -> [KeyStatement] {
    let values = samples.map(\.canonicalValue)
    let text = values.sorted().joined(separator: "\u{1F}")
    let hash = SHA256.hash(data: Data(text.utf8)).prefix(6).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    let stamp = Stamp(said: said, values: UInt64(min(samples.count, 0xFFFF)) << 48 | hash)
    var ranks: [String: Int] = [:]
    return values.map { value in
      let rank = ranks[value, default: 0]
      ranks[value] = rank + 1
      return KeyStatement(key: key, stamp: stamp, content: content(value, rank: rank, of: key))
    }
  }

  /// Returns the ``content`` of a record.
  ///
  /// - Parameter value: ``Sample/canonicalValue``.
  public static func content(_ value: String, rank: Int, of key: UUID) -> UUID {
    SampleIdentity.uuid(ofContent: value, rank: rank, key: key)
  }
}

extension KeyStatement {
  /// The length of ``bytes``.
  public static let byteCount = 48

  /// The binary form: the key's UUID, the time in microseconds since 1970, the packed values (both big-endian), and
  /// the content's UUID.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    withUnsafeBytes(of: key.uuid) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: stamp.said.microseconds.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: stamp.values.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: content.uuid) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Creates a statement from its binary form, or returns `nil` if the length is wrong.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self = Array(bytes).withUnsafeBytes { raw in
      KeyStatement(
        key: UUID(uuid: raw.loadUnaligned(as: uuid_t.self)),
        stamp: Stamp(
          said: Timestamp(microseconds: Int64(bigEndian: raw.loadUnaligned(fromByteOffset: 16, as: Int64.self))),
          values: UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 24, as: UInt64.self))),
        content: UUID(uuid: raw.loadUnaligned(fromByteOffset: 32, as: uuid_t.self)))
    }
  }
}

/// Encoded in JSON as ``bytes`` in hexadecimal.
extension KeyStatement: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard text.utf8.count == 2 * Self.byteCount, let bytes = RadixCoding.hex.decode(text), let read = Self(bytes: bytes)
    else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "not what was said of a key") }
    self = read
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(RadixCoding.hex.encode(bytes))
  }
}
