import Foundation

/// The fields from which the identity of a record without a UUID is derived, except its rank among records with equal
/// fields.
public struct SampleKey: Hashable, Sendable {
  /// The kind of element: `record`, `correlation`, `workout`, or another element's name and identifier.
  public var kind: String
  /// The record's type, whether or not the catalogue knows it.
  public var type: SampleType
  /// The source's name as used in identities: its original name if the source was renamed.
  public var source: String
  /// The start in UTC seconds.
  public var start: Int64
  /// The end in UTC seconds, equal to ``start`` for an instant.
  public var end: Int64
  /// The `creationDate` in UTC seconds, or `nil` if the record has none; a missing date makes a different identity.
  public var created: Int64?

  /// Creates a key.
  ///
  /// - Parameter source: the name that identities use, which may differ from the name in the record.
  public init(kind: String, type: SampleType, source: String, start: Int64, end: Int64, created: Int64?) {
    self.kind = kind
    self.type = type
    self.source = source
    self.start = start
    self.end = end
    self.created = created
  }

  /// Creates the key of a sample.
  ///
  /// - Parameter source: the name that identities use for the sample's source, or `nil` for the sample's own.
  public init(kind: String, sample: Sample, source: String? = nil) {
    self.init(
      kind: kind, type: sample.type, source: source ?? sample.source.name, start: sample.start.seconds,
      end: sample.end.seconds, created: sample.created?.seconds)
  }

  /// Returns the identity of the record with this key and rank; see ``SampleIdentity``.
  public func uuid(ordinal: Int) -> UUID {
    SampleIdentity.uuid(
      kind: kind, type: type, source: source, start: Timestamp(seconds: start), end: Timestamp(seconds: end),
      created: created.map(Timestamp.init(seconds:)), ordinal: ordinal)
  }

  /// Returns the rank of the record with the given identity, or `nil` if it is not among the first 64 of this key.
  public func ordinal(of uuid: UUID) -> Int? { (0..<64).first { self.uuid(ordinal: $0) == uuid } }

  /// The key as a single line, with fields separated by U+001F. ``init(text:)`` reads it.
  public var text: String {
    [kind, type.rawValue, source, String(start), String(end), created.map { String($0) } ?? ""]
      .joined(separator: "\u{1F}")
  }

  /// Reads a key from its ``text``. Returns `nil` for other text, including a key whose name contains U+001F.
  public init?(text: String) {
    let fields = text.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 6, let start = Int64(fields[3]), let end = Int64(fields[4]),
      fields[5].isEmpty || Int64(fields[5]) != nil
    else { return nil }
    self.init(
      kind: fields[0], type: SampleType(fields[1]), source: fields[2], start: start, end: end, created: Int64(fields[5])
    )
  }
}

extension UUID {
  /// Whether this is a version 5 or 8 UUID (RFC 9562 section 5), as ``SampleIdentity`` creates them. HealthKit's own
  /// UUIDs are random (version 4).
  public var isDerived: Bool { uuid.6 >> 4 == 5 && uuid.8 >> 6 == 2 || isOfReading }

  /// Whether this is a version 8 UUID, as ``SampleIdentity/uuid(ofReading:sender:)`` creates them.
  public var isOfReading: Bool { uuid.6 >> 4 == 8 && uuid.8 >> 6 == 2 }
}

/// A group of records of one file with equal keys, which only their values tell apart.
///
/// A store chooses the ordinals. Use ``byRank()`` if no earlier ordinals are known.
public struct TwinGroup: Sendable {
  /// The key that all records share.
  public var key: SampleKey
  /// The samples in ascending rank, without identities.
  public var samples: [Sample]

  /// Creates a group.
  ///
  /// - Parameter samples: sorted by ``Sample/canonicalValue``; not sorted here.
  public init(key: SampleKey, samples: [Sample]) {
    self.key = key
    self.samples = samples
  }

  /// Returns the samples with identities whose ordinals are their ranks.
  public func byRank() -> [Sample] {
    samples.enumerated().map { ordinal, sample in
      var sample = sample
      sample.uuid = key.uuid(ordinal: ordinal)
      return sample
    }
  }
}

/// The data of an export record that is needed to find it in a store that knows its source under another name.
public struct SampledRecord: Hashable, Sendable {
  /// The key, with the source's name in the export.
  public var key: SampleKey
  /// The record's number, without a unit for a category, or `nil` if it has none.
  public var value: Quantity?
  /// Whether another record of the export may have the same key apart from the source.
  public var isShared: Bool

  /// Creates a record. By default it is the only record with its key.
  public init(key: SampleKey, value: Quantity? = nil, isShared: Bool = false) {
    self.key = key
    self.value = value
    self.isShared = isShared
  }

  /// Returns whether a stored sample with the same identity apart from the source has a different number. Returns
  /// false if this cannot be determined because a number is missing or the units do not convert.
  public func contradicts(_ stored: Quantity?) -> Bool {
    guard let value, let stored, !value.isEquivalent(to: stored) else { return false }
    return UnitConversion.convert(stored.value, from: stored.unit, to: value.unit) != nil
  }
}
