import Cryptography
import Foundation

/// The statement, such as an export, that one of several records of a key belongs to.
///
/// A store holds only the records of the newest statement of a key. Those of older statements are removed without tombstones.
/// Therefore each record carries the ``stamp`` of its statement, and a tombstone names ``content`` instead of an identity, which
/// another record of the key may have by now.
public struct KeyStatement: Hashable, Sendable {
  /// The identity of the first record of the key.
  public var key: UUID
  /// The time of the statement and the values of the key's records.
  public var stamp: Stamp
  /// A UUID of the record's value and its rank among the equal values of the statement.
  public var content: UUID

  /// The order of the statements of one key.
  public struct Stamp: Hashable, Sendable, Comparable {
    /// The date of the export.
    public var said: Timestamp
    /// The number of records in the upper 16 bits, and a hash of their values below. Statements of one time with equal values are
    /// the same statement.
    public var values: UInt64

    /// The number of records; 65,535 also stands for more.
    package var count: Int { Int(values >> 48) }

    /// Creates a stamp of a time and of ``values``.
    public init(said: Timestamp, values: UInt64) {
      (self.said, self.values) = (said, values)
    }

    public static func < (one: Self, other: Self) -> Bool {
      one.said == other.said ? one.values < other.values : one.said < other.said
    }
  }

  /// Creates the statement of one record; ``all(of:key:said:)`` creates those of a whole key.
  public init(key: UUID, stamp: Stamp, content: UUID) {
    (self.key, self.stamp, self.content) = (key, stamp, content)
  }

  /// Creates the statement of each record of a key.
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

  /// Creates the ``content`` of a record.
  ///
  /// - Parameter value: ``Sample/canonicalValue``.
  public static func content(_ value: String, rank: Int, of key: UUID) -> UUID {
    SampleIdentity.uuid(ofContent: value, rank: rank, key: key)
  }
}

extension KeyStatement {
  /// The length of ``bytes``.
  public static let byteCount = 48

  /// Key and content as UUIDs are written, between them the time in microseconds since 1970 and the values, both big-endian.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    withUnsafeBytes(of: key.uuid) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: stamp.said.microseconds.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: stamp.values.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: content.uuid) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// `nil` for what ``bytes`` never are.
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

/// In JSON ``bytes`` in hexadecimal.
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
