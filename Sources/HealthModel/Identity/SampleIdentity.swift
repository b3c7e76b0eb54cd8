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

  /// The identity of a record whose value drifts, such as a day's activity summary: its value belongs to it, so that a new value is
  /// a new sample and a tombstone for the old one.
  ///
  /// - Parameter ordinal: 0, or the number of times that this very value has come back after another.
  public static func uuid(ofDrifting sample: Sample, ordinal: Int = 0) -> UUID {
    var key = Array("v1\u{1F}drifting\u{1F}\(sample.type.rawValue)\u{1F}\(sample.start.seconds)".utf8)
    for field in sample.driftingFields {
      key.append(0x1F)
      key.append(contentsOf: field.utf8)
    }
    key.append(contentsOf: "\u{1F}\(ordinal)".utf8)
    return uuid(of: key)
  }

  /// The identity of a sample that was deleted and brought back: a deleted identity stays deleted, on every machine. Two
  /// machines that bring the same back give it the same.
  ///
  /// - Parameter ordinal: how many of these identities have been deleted again.
  public static func uuid(ofRestored deleted: UUID, ordinal: Int) -> UUID {
    uuid(of: Array("v1\u{1F}restored\u{1F}\(deleted.uuidString)\u{1F}\(ordinal)".utf8))
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

  private static func uuid(of name: [UInt8]) -> UUID { uuid(hasher(of: name)) }

  /// Has taken the namespace and the beginning of a name.
  private static func hasher(of name: [UInt8]) -> Insecure.SHA1 {
    var hasher = Insecure.SHA1()
    withUnsafeBytes(of: namespace.uuid) { hasher.update(bufferPointer: $0) }
    name.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher
  }

  private static func uuid(_ hasher: Insecure.SHA1) -> UUID {
    // SHA-1 gives 20 bytes, of which a UUID takes 16.
    var uuid = hasher.finalize().withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
    uuid.6 = uuid.6 & 0x0F | 0x50
    uuid.8 = uuid.8 & 0x3F | 0x80
    return UUID(uuid: uuid)
  }
}

extension Sample {
  /// What a sample whose value drifts says, as text in a fixed order; where a type and a start may have several readings,
  /// also what else tells those apart.
  fileprivate var driftingFields: [String] {
    switch payload {
    case .quantity(let quantity):
      return [payload.kind, String(end.seconds), source.name, "\(quantity.value)", quantity.unit]
    case .unknown(let kind, let content):
      // Any JSON value can be written as JSON.
      return [kind, String(end.seconds), source.name, (try? CanonicalJSON.encode(content)) ?? ""]
    default:
      guard let reading = payload.content as? any SingleReading else { return [payload.kind] }
      let includesMetadata = reading.includesMetadata && !metadata.isEmpty
      return reading.fields + (includesMetadata ? [MetadataText.encode(metadata)] : [])
    }
  }
}
