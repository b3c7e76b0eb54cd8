/// What a record holds, in numbers that are equal where the records are: for each type and month in which a sample
/// starts, a digest of the samples and one of the tombstones. `docs/protocol/digest.md` specifies it.
public struct RecordDigest: Hashable, Sendable {
  /// In the order of the identifiers' UTF-8; none without months.
  public var types: [TypeDigest]

  /// - Parameter types: sorted by ``SampleType/utf8Order(_:_:)``, each once. Not checked.
  public init(types: [TypeDigest] = []) {
    self.types = types
  }

  /// Samples of all types.
  public var samples: SetDigest { types.reduce(into: .empty) { $0 += $1.samples } }
  /// Tombstones of all types.
  public var tombstones: SetDigest { types.reduce(into: .empty) { $0 += $1.tombstones } }
}

extension RecordDigest {
  /// All months in which some type has samples or tombstones.
  public var months: Set<CalendarMonth> { Set(types.flatMap(\.months).map(\.month)) }

  /// The months in ascending ranges that hold at most `limit` samples each; a month with more is a range of its own.
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

  /// Joins digests of one record, no two of which have a month in common.
  public init(joining parts: [RecordDigest]) {
    // By bytes: two spellings of a text are two types.
    let byType = Dictionary(grouping: parts.flatMap(\.types)) { Array($0.type.rawValue.utf8) }
    types = byType.values.map { types in
      TypeDigest(type: types[0].type, months: types.flatMap(\.months).sorted { $0.month < $1.month })
    }.sorted { SampleType.utf8Order($0.type, $1.type) }
  }
}

/// One type of a ``RecordDigest``.
public struct TypeDigest: Hashable, Sendable {
  /// The type that all samples and tombstones here have.
  public var type: SampleType
  /// In the order of time; none without samples and tombstones.
  public var months: [MonthDigest]

  /// - Parameter months: ascending, each once. Not checked.
  public init(type: SampleType, months: [MonthDigest]) {
    self.type = type
    self.months = months
  }

  /// The samples of all months.
  public var samples: SetDigest { months.reduce(into: .empty) { $0 += $1.samples } }
  /// The tombstones of all months.
  public var tombstones: SetDigest { months.reduce(into: .empty) { $0 += $1.tombstones } }
  /// `nil` unless all months have it.
  public var contents: UInt128? {
    months.reduce(UInt128?.some(0)) { sum, month in
      guard let sum, let contents = month.contents else { return nil }
      return sum &+ contents
    }
  }
}

/// One type and month of a ``RecordDigest``.
public struct MonthDigest: Hashable, Sendable {
  /// The month in which the samples start.
  public var month: CalendarMonth
  /// Over type, start, end and UUID of each sample.
  public var samples: SetDigest
  /// Over type, start and UUID of each tombstone.
  public var tombstones: SetDigest
  /// The sum over everything that the samples say; `nil` where nobody asked.
  public var contents: UInt128?

  /// - Parameter contents: sum, modulo 2^128, of what ``ContentHasher`` makes of each sample.
  public init(month: CalendarMonth, samples: SetDigest, tombstones: SetDigest, contents: UInt128? = nil) {
    self.month = month
    self.samples = samples
    self.tombstones = tombstones
    self.contents = contents
  }
}

extension SampleType {
  /// The order of UTF-8, which is the same on every machine and in SQLite.
  public static func utf8Order(_ lhs: SampleType, _ rhs: SampleType) -> Bool {
    lhs.rawValue.utf8.lexicographicallyPrecedes(rhs.rawValue.utf8)
  }
}
