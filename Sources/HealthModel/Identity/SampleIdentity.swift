import Cryptography
import Foundation

/// Deterministic UUIDs for records whose source gives none, such as those of Apple's export.
///
/// A version 5 UUID (RFC 9562 section 5.5) over `v1␟kind␟type␟source␟start␟end␟created␟ordinal`: UTF-8, ␟ is U+001F, instants
/// in whole UTC seconds, an absent one empty. Value, unit, offset, device, source version and metadata are left out,
/// because Apple prints them differently from one export to the next. Frozen: a change makes every record of every
/// store a new one.
public enum SampleIdentity {
  /// The namespace of version 1: the version 5 UUID of `hpeer:sample:v1` in the URL namespace.
  public static let namespace = UUID(
    uuid: (
      0x93, 0xFF, 0xB9, 0x94, 0xC3, 0x87, 0x57, 0xBA, 0xB2, 0x62, 0x84, 0x1D, 0x29, 0xFD, 0x58, 0x1B
    ))

  /// - Parameter ordinal: the rank, by canonical value, among records that agree in everything else here.
  public static func uuid(
    kind: String, type: SampleType, source: String, start: Timestamp, end: Timestamp, created: Timestamp?, ordinal: Int
  ) -> UUID {
    var hasher = hasherOfBeginning(kind: kind, type: type, source: source)
    return uuid(&hasher, start: start, end: end, created: created, ordinal: ordinal)
  }

  /// What the identities of one kind, type and source have in common, for those who make a million of them: it is
  /// hashed once.
  public struct NameBeginning {
    private let hasher: Insecure.SHA1

    /// The arguments are those of ``SampleIdentity/uuid(kind:type:source:start:end:created:ordinal:)``.
    public init(kind: String, type: SampleType, source: String) {
      hasher = SampleIdentity.hasherOfBeginning(kind: kind, type: type, source: source)
    }

    /// The identity that ``SampleIdentity/uuid(kind:type:source:start:end:created:ordinal:)`` gives.
    public func uuid(start: Timestamp, end: Timestamp, created: Timestamp?, ordinal: Int) -> UUID {
      var hasher = hasher
      return SampleIdentity.uuid(&hasher, start: start, end: end, created: created, ordinal: ordinal)
    }
  }

  /// The identity of a reading: of what an app, or an export, says of a period or of the person, and says anew as it changes. Its
  /// value is no part of it, so that a newer reading takes the place of the older one.
  ///
  /// A version 8 UUID (RFC 9562 section 5.8): the same hash over `v1␟reading␟type␟start` with the start in UTC
  /// microseconds, and for what is not the only one of its type and start `␟source␟period␟sender`. The period is what the metadata
  /// call it (`hpeer.aggregation`: `day`, `night`), because the end moves while it lasts, else the end in microseconds.
  ///
  /// - Parameter sender: who said it, as this machine calls them; empty for a file.
  public static func uuid(ofReading sample: Sample, sender: String = "") -> UUID {
    var fields = ["v1", "reading", sample.type.rawValue, String(sample.start.microseconds)]
    if !(sample.payload.content is any SingleReading) {
      fields += [sample.source.name, sample.period, sender]
    }
    return uuid(of: Array(fields.joined(separator: "\u{1F}").utf8), version: 8)
  }

  /// The identity of a sample that was deleted and brought back: a deleted identity stays deleted, on every machine. Two
  /// machines that bring the same back give it the same. A reading stays one.
  ///
  /// - Parameter ordinal: how many of these identities have been deleted again.
  public static func uuid(ofRestored deleted: UUID, ordinal: Int) -> UUID {
    uuid(
      of: Array("v1\u{1F}restored\u{1F}\(deleted.uuidString)\u{1F}\(ordinal)".utf8),
      version: deleted.isOfReading ? 8 : 5)
  }

  /// See ``KeyStatement/content``.
  static func uuid(ofContent value: String, rank: Int, key: UUID) -> UUID {
    uuid(of: Array("v1\u{1F}content\u{1F}\(key.uuidString)\u{1F}\(value)\u{1F}\(rank)".utf8), version: 5)
  }

  // MARK: The name's bytes

  private static let separator: UInt8 = 0x1F

  /// Has taken `v1␟kind␟type␟source`.
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

  /// Adds `␟start␟end␟created␟ordinal`.
  private static func uuid(
    _ hasher: inout Insecure.SHA1, start: Timestamp, end: Timestamp, created: Timestamp?, ordinal: Int
  ) -> UUID {
    // A separator, a sign and 19 digits for each.
    withUnsafeTemporaryAllocation(byteCount: 4 * 21, alignment: 1) { bytes in
      var first = write(Int64(ordinal), before: bytes.count, in: bytes)
      first = write(created?.seconds, before: first, in: bytes)
      first = write(end.seconds, before: first, in: bytes)
      first = write(start.seconds, before: first, in: bytes)
      hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[first...]))
    }
    return uuid(hasher)
  }

  /// Writes a separator and a number, or nothing after it; returns where they begin.
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

  /// Has taken the namespace and the beginning of a name.
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
  /// The name of the period that a reading is of, such as `day`; where it has none, its end in microseconds.
  package var period: String { Self.period(end: end, metadata) }

  /// The same, of a reading of which only this is known.
  package static func period(end: Timestamp, _ metadata: Metadata) -> String {
    if case .string(let name)? = metadata["hpeer.aggregation"] { name } else { String(end.microseconds) }
  }
}
