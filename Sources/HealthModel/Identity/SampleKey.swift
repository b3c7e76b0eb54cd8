import Foundation

/// What the identity of a record without a UUID is made of, but for its rank among those that agree in all of this.
public struct SampleKey: Hashable, Sendable {
  /// `record`, `correlation`, `workout`, or the name of another element and its identifier.
  public var kind: String
  /// As the record has it, whether the catalogue knows it or not.
  public var type: SampleType
  /// The source's name as identities have it: the one that it had first, for a source that was renamed since.
  public var source: String
  /// UTC seconds, like the other instants.
  public var start: Int64
  /// UTC seconds; equal to ``start`` for an instant.
  public var end: Int64
  /// UTC seconds of `creationDate`; `nil` where the record has none, which is an identity of its own.
  public var created: Int64?

  /// - Parameter source: the name that identities use, which need not be the one that the record has.
  public init(kind: String, type: SampleType, source: String, start: Int64, end: Int64, created: Int64?) {
    self.kind = kind
    self.type = type
    self.source = source
    self.start = start
    self.end = end
    self.created = created
  }

  /// - Parameter source: the name that identities use for the sample's source; `nil` for its own.
  public init(kind: String, sample: Sample, source: String? = nil) {
    self.init(
      kind: kind, type: sample.type, source: source ?? sample.source.name, start: sample.start.seconds,
      end: sample.end.seconds, created: sample.created?.seconds)
  }

  /// The identity of the record with this key and rank; see ``SampleIdentity``.
  public func uuid(ordinal: Int) -> UUID {
    SampleIdentity.uuid(
      kind: kind, type: type, source: source, start: Timestamp(seconds: start), end: Timestamp(seconds: end),
      created: created.map(Timestamp.init(seconds:)), ordinal: ordinal)
  }

  /// The rank of the record that has an identity; `nil` if none of the first 64 records of the key has it.
  public func ordinal(of uuid: UUID) -> Int? { (0..<64).first { self.uuid(ordinal: $0) == uuid } }

  /// One line of fields with U+001F between them; ``init(text:)`` reads it.
  public var text: String {
    [kind, type.rawValue, source, String(start), String(end), created.map { String($0) } ?? ""]
      .joined(separator: "\u{1F}")
  }

  /// `nil` for what ``text`` never says. A name with U+001F in it is such a text.
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
  /// Whether this is a UUID of version 5 or 8 (RFC 9562 section 5), as ``SampleIdentity`` makes them. HealthKit's own are
  /// random, version 4.
  public var isDerived: Bool { uuid.6 >> 4 == 5 && uuid.8 >> 6 == 2 || isOfReading }

  /// Whether this is a version 8 UUID, as ``SampleIdentity/uuid(ofReading:sender:)`` makes them.
  public var isOfReading: Bool { uuid.6 >> 4 == 8 && uuid.8 >> 6 == 2 }
}

/// Records of one file that agree in all that their identities are made of, and so are told apart by their values.
///
/// Their ordinals are for a store to choose. ``byRank()`` is what one needs that knows none of them.
public struct TwinGroup: Sendable {
  /// What all of them agree in.
  public var key: SampleKey
  /// Without identities, from the lowest rank to the highest.
  public var samples: [Sample]

  /// - Parameter samples: already ranked by ``Sample/canonicalValue``; not sorted here.
  public init(key: SampleKey, samples: [Sample]) {
    self.key = key
    self.samples = samples
  }

  /// The samples with their ranks as ordinals.
  public func byRank() -> [Sample] {
    samples.enumerated().map { ordinal, sample in
      var sample = sample
      sample.uuid = key.uuid(ordinal: ordinal)
      return sample
    }
  }
}

/// A record of an export, as far as it takes to find it in a store that knows its source under another name.
public struct SampledRecord: Hashable, Sendable {
  /// With the name that the source has in the export.
  public var key: SampleKey
  /// The number that it says, a category's without a unit; `nil` where it says none.
  public var value: Quantity?
  /// Whether another record of the export may agree with it in all that identities are made of but the source.
  public var isShared: Bool

  /// A record that is alone with its key, unless `isShared` says otherwise.
  public init(key: SampleKey, value: Quantity? = nil, isShared: Bool = false) {
    self.key = key
    self.value = value
    self.isShared = isShared
  }

  /// Whether a sample that has the same identity but for the source says another number. False where that cannot be
  /// told, because one of them says none or their units do not convert.
  public func contradicts(_ stored: Quantity?) -> Bool {
    guard let value, let stored, !value.isEquivalent(to: stored) else { return false }
    return UnitConversion.convert(stored.value, from: stored.unit, to: value.unit) != nil
  }
}
