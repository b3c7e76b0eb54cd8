/// A digest of a record, for comparing the records of two machines. For each type and month of start it has a digest
/// of the samples and a digest of the tombstones. Specified in `docs/protocol/digest.md`.
public struct RecordDigest: Hashable, Sendable {
  /// The digests of the types in the order of their identifiers' UTF-8, without types that have no months.
  public var types: [TypeDigest]

  /// Creates a digest.
  ///
  /// - Parameter types: sorted by ``SampleType/utf8Order(_:_:)``, without duplicates. Not checked.
  public init(types: [TypeDigest] = []) {
    self.types = types
  }

  /// The digest of the samples of all types.
  public var samples: SetDigest { types.reduce(into: .empty) { $0 += $1.samples } }
  /// The digest of the tombstones of all types.
  public var tombstones: SetDigest { types.reduce(into: .empty) { $0 += $1.tombstones } }
}

extension RecordDigest {
  /// The months in which any type has samples or tombstones.
  public var months: Set<CalendarMonth> { Set(types.flatMap(\.months).map(\.month)) }

  /// Returns the months in ascending ranges with at most `limit` samples each. A month with more samples is a range
  /// of its own.
  public func parts(ofAtMost limit: Int) -> [ClosedRange<CalendarMonth>] {
    var counts: [CalendarMonth: Int] = [:]
    for type in types {
      for month in type.months { counts[month.month, default: 0] += month.samples.count }
    }
    var parts: [ClosedRange<CalendarMonth>] = []
    var held = 0
    for (month, count) in counts.sorted(by: { $0.key < $1.key }) {
      if let last = parts.last, held + count <= limit {
        parts[parts.count - 1] = last.lowerBound...month
        held += count
      } else {
        parts.append(month...month)
        held = count
      }
    }
    return parts
  }

  /// Combines digests of the same record that have no months in common.
  public init(joining parts: [RecordDigest]) {
    // Group by bytes, because two spellings of an identifier are two types.
    let byType = Dictionary(grouping: parts.flatMap(\.types)) { Array($0.type.rawValue.utf8) }
    types = byType.values.map { types in
      TypeDigest(type: types[0].type, months: types.flatMap(\.months).sorted { $0.month < $1.month })
    }.sorted { SampleType.utf8Order($0.type, $1.type) }
  }
}

/// The part of a ``RecordDigest`` for a type.
public struct TypeDigest: Hashable, Sendable {
  /// The type of the samples and tombstones.
  public var type: SampleType
  /// The digests of the months in ascending order, without months that have no samples and tombstones.
  public var months: [MonthDigest]

  /// Creates the digest of a type.
  ///
  /// - Parameter months: ascending, without duplicates. Not checked.
  public init(type: SampleType, months: [MonthDigest]) {
    self.type = type
    self.months = months
  }

  /// The digest of the samples of all months.
  public var samples: SetDigest { months.reduce(into: .empty) { $0 += $1.samples } }
  /// The digest of the tombstones of all months.
  public var tombstones: SetDigest { months.reduce(into: .empty) { $0 += $1.tombstones } }
  /// The sum of the content hashes of all months, or `nil` if any month lacks it.
  public var contents: UInt128? {
    months.reduce(UInt128?.some(0)) { sum, month in
      guard let sum, let contents = month.contents else { return nil }
      return sum &+ contents
    }
  }
}

/// The part of a ``RecordDigest`` for a type and a month.
public struct MonthDigest: Hashable, Sendable {
  /// The month in which the samples start.
  public var month: CalendarMonth
  /// The digest over type, start, end and UUID of each sample.
  public var samples: SetDigest
  /// The digest over type, start and UUID of each tombstone.
  public var tombstones: SetDigest
  /// The sum of the content hashes of the samples, or `nil` if it was not computed.
  public var contents: UInt128?

  /// Creates the digest of a month.
  ///
  /// - Parameter contents: the sum, modulo 2^128, of the ``ContentHasher`` hashes of the samples.
  public init(month: CalendarMonth, samples: SetDigest, tombstones: SetDigest, contents: UInt128? = nil) {
    self.month = month
    self.samples = samples
    self.tombstones = tombstones
    self.contents = contents
  }
}

extension SampleType {
  /// Returns whether the first identifier precedes the second in UTF-8 order, which is the same on every machine and
  /// in SQLite.
  public static func utf8Order(_ lhs: SampleType, _ rhs: SampleType) -> Bool {
    lhs.rawValue.utf8.lexicographicallyPrecedes(rhs.rawValue.utf8)
  }
}
