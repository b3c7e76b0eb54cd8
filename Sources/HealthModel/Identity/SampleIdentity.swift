import Crypto
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
    var key: [UInt8] = []
    key.reserveCapacity(160)
    key.append(contentsOf: "v1\u{1F}".utf8)
    key.append(contentsOf: kind.utf8)
    key.append(0x1F)
    key.append(contentsOf: type.rawValue.utf8)
    key.append(0x1F)
    key.append(contentsOf: source.utf8)
    for instant in [start, end, created] {
      key.append(0x1F)
      if let instant { key.append(contentsOf: String(instant.seconds).utf8) }
    }
    key.append(0x1F)
    key.append(contentsOf: String(ordinal).utf8)
    return uuid(of: key)
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

  private static func uuid(of name: [UInt8]) -> UUID {
    name.withUnsafeBytes { uuid(NameBeginning($0).hasher) }
  }

  /// The beginning of names that somebody writes as it is described above, for those who write a million of them: it is
  /// hashed once.
  public struct NameBeginning {
    fileprivate let hasher: Insecure.SHA1

    /// - Parameter bytes: the name from `v1` on, up to where the names differ; copied.
    public init(_ bytes: UnsafeRawBufferPointer) {
      var hasher = Insecure.SHA1()
      withUnsafeBytes(of: namespace.uuid) { hasher.update(bufferPointer: $0) }
      hasher.update(bufferPointer: bytes)
      self.hasher = hasher
    }

    /// The identity of the name that ends with these bytes.
    public func uuid(endingWith bytes: UnsafeRawBufferPointer) -> UUID {
      var hasher = hasher
      hasher.update(bufferPointer: bytes)
      return SampleIdentity.uuid(hasher)
    }
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
