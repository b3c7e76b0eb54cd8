import Cryptography
import Foundation

/// What a statement, such as an export, said of a key that several records have, as far as each of them has to know it.
///
/// Of a key what was said last is held, whole: the records of an older statement go, and leave nothing behind. So a record keeps
/// with it when that was, and a tombstone names not an identity, which another record of the key may have by now, but
/// ``content``.
public struct KeyStatement: Hashable, Sendable {
  /// Names the key: the identity of the first of its records.
  public var key: UUID
  /// When, and what.
  public var stamp: Stamp
  /// What this record says: its value, and its rank among those of the statement with an equal value.
  public var content: UUID

  /// An order of all that was ever said of a key.
  public struct Stamp: Hashable, Sendable, Comparable {
    /// When it was said: the date of the export.
    public var said: Timestamp
    /// In the upper 16 bits how many records the key has by it, below these a hash of their values: statements of one time that
    /// say the same are one.
    public var values: UInt64

    /// How many records the key has by it; 65,535 stands for more as well.
    package var count: Int { Int(values >> 48) }

    /// See ``said`` and ``values``.
    public init(said: Timestamp, values: UInt64) {
      (self.said, self.values) = (said, values)
    }

    public static func < (one: Self, other: Self) -> Bool {
      one.said == other.said ? one.values < other.values : one.said < other.said
    }
  }

  /// Of a record; see ``all(of:key:said:)``.
  public init(key: UUID, stamp: Stamp, content: UUID) {
    (self.key, self.stamp, self.content) = (key, stamp, content)
  }

  /// What a statement says of each of a key's records.
  ///
  /// - Parameter samples: all that it says of the key.
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

  /// See ``content``.
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
