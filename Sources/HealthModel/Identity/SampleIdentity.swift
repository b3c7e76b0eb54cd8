import Cryptography
import Foundation

/// Deterministic UUIDs for records whose source provides none, such as those of Apple's export.
///
/// A version 5 UUID (RFC 9562 section 5.5) over `v1␟kind␟type␟source␟start␟end␟created␟ordinal`: UTF-8, ␟ is U+001F,
/// instants in whole UTC seconds, a missing instant is empty. Value, unit, offset, device, source version and
/// metadata are left out because Apple prints them differently from one export to the next. This format is frozen: a
/// change would give every record in every store a new identity.
public enum SampleIdentity {
  /// The namespace of version 1: the version 5 UUID of `hpeer:sample:v1` in the URL namespace.
  public static let namespace = UUID(
    uuid: (
      0x93, 0xFF, 0xB9, 0x94, 0xC3, 0x87, 0x57, 0xBA, 0xB2, 0x62, 0x84, 0x1D, 0x29, 0xFD, 0x58, 0x1B
    ))

  /// Returns the identity of a record.
  ///
  /// - Parameter ordinal: the rank, by canonical value, among records that agree in all other arguments.
  public static func uuid(
    kind: String, type: SampleType, source: String, start: Timestamp, end: Timestamp, created: Timestamp?, ordinal: Int
  ) -> UUID {
    var hasher = hasherOfBeginning(kind: kind, type: type, source: source)
    return uuid(&hasher, start: start, end: end, created: created, ordinal: ordinal)
  }

  /// The hashed common prefix of identities of one kind, type and source. Hashing it once is faster for millions of
  /// records.
  public struct NameBeginning {
    private let hasher: Insecure.SHA1

    /// Creates a prefix from arguments of ``SampleIdentity/uuid(kind:type:source:start:end:created:ordinal:)``.
    public init(kind: String, type: SampleType, source: String) {
      hasher = SampleIdentity.hasherOfBeginning(kind: kind, type: type, source: source)
    }

    /// Returns the same identity as ``SampleIdentity/uuid(kind:type:source:start:end:created:ordinal:)``.
    public func uuid(start: Timestamp, end: Timestamp, created: Timestamp?, ordinal: Int) -> UUID {
      var hasher = hasher
      return SampleIdentity.uuid(&hasher, start: start, end: end, created: created, ordinal: ordinal)
    }
  }

  /// Returns the identity of a reading: a value for a period or a person that an app or export reports again as it
  /// changes. The value is not part of the identity, so a newer reading replaces the older one.
  ///
  /// A version 8 UUID (RFC 9562 section 5.8): the same hash over `v1␟reading␟type␟start`, with the start in UTC
  /// microseconds, followed by `␟source␟period␟sender` unless the payload is a ``SingleReading``. The period is the
  /// `hpeer.aggregation` metadata value (`day`, `night`), because the end moves during the period; without it, the
  /// end in microseconds.
  ///
  /// - Parameter sender: the name under which this machine knows the sender; empty for a file.
  public static func uuid(ofReading sample: Sample, sender: String = "") -> UUID {
    var fields = ["v1", "reading", sample.type.rawValue, String(sample.start.microseconds)]
    if !(sample.payload.content is any SingleReading) {
      fields += [sample.source.name, sample.period, sender]
    }
    return uuid(of: Array(fields.joined(separator: "\u{1F}").utf8), version: 8)
  }

  /// Returns the identity of a sample that is restored after deletion, because a deleted identity stays deleted on
  /// every machine. Two machines that restore the same sample derive the same identity. A restored reading is again a
  /// reading.
  ///
  /// - Parameter ordinal: the number of these identities that have been deleted again.
  public static func uuid(ofRestored deleted: UUID, ordinal: Int) -> UUID {
    uuid(
      of: Array("v1\u{1F}restored\u{1F}\(deleted.uuidString)\u{1F}\(ordinal)".utf8),
      version: deleted.isOfReading ? 8 : 5)
  }

  /// Returns the UUID for ``KeyStatement/content``.
  static func uuid(ofContent value: String, rank: Int, key: UUID) -> UUID {
    uuid(of: Array("v1\u{1F}content\u{1F}\(key.uuidString)\u{1F}\(value)\u{1F}\(rank)".utf8), version: 5)
  }

  // MARK: The name's bytes

  private static let separator: UInt8 = 0x1F

  /// Returns a hasher that has consumed `v1␟kind␟type␟source`.
  private static func hasherOfBeginning(kind: String, type: SampleType, source: String) -> Insecure.SHA1 {
    var name: [UInt8] = []
    name.reserveCapacity(120)
    name.append(contentsOf: "v1".utf8)
    for field in [kind, type.rawValue, source] {
      name.append(separator)
      name.append(contentsOf: field.utf8)
    }
    return hasher(of: name)
  }

  /// Appends `␟start␟end␟created␟ordinal` to the hash and returns its UUID.
  private static func uuid(
    _ hasher: inout Insecure.SHA1, start: Timestamp, end: Timestamp, created: Timestamp?, ordinal: Int
  ) -> UUID {
    // Each field takes at most a separator, a sign and 19 digits.
    withUnsafeTemporaryAllocation(byteCount: 4 * 21, alignment: 1) { bytes in
      var first = write(Int64(ordinal), before: bytes.count, in: bytes)
      first = write(created?.seconds, before: first, in: bytes)
      first = write(end.seconds, before: first, in: bytes)
      first = write(start.seconds, before: first, in: bytes)
      hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[first...]))
    }
    return uuid(hasher)
  }

  /// Writes a separator and, if there is one, a number so that they end before `end`. Returns the index of the
  /// separator.
  private static func write(_ number: Int64?, before end: Int, in bytes: UnsafeMutableRawBufferPointer) -> Int {
    var next = end - 1
    if let number {
      var rest = number.magnitude
      while true {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        bytes[next] = 0x30 + UInt8(truncatingIfNeeded: digit)
        next -= 1
        if quotient == 0 { break }
        rest = quotient
      }
      if number < 0 {
        bytes[next] = 0x2D
        next -= 1
      }
    }
    bytes[next] = separator
    return next
  }

  private static func uuid(of name: [UInt8], version: UInt8) -> UUID { uuid(hasher(of: name), version: version) }

  /// Returns a hasher that has consumed the namespace and the beginning of a name.
  private static func hasher(of name: [UInt8]) -> Insecure.SHA1 {
    var hasher = Insecure.SHA1()
    withUnsafeBytes(of: namespace.uuid) { hasher.update(bufferPointer: $0) }
    name.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher
  }

  private static func uuid(_ hasher: Insecure.SHA1, version: UInt8 = 5) -> UUID {
    // SHA-1 gives 20 bytes, of which a UUID takes 16.
    var uuid = hasher.finalize().withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
    uuid.6 = uuid.6 & 0x0F | version << 4
    uuid.8 = uuid.8 & 0x3F | 0x80
    return UUID(uuid: uuid)
  }
}

extension Sample {
  /// The name of the period that a reading covers, such as `day`, or its end in microseconds if it has no name.
  package var period: String { Self.period(end: end, metadata) }

  /// Returns the period of a reading with the given end and metadata.
  package static func period(end: Timestamp, _ metadata: Metadata) -> String {
    if case .string(let name)? = metadata["hpeer.aggregation"] { name } else { String(end.microseconds) }
  }
}
