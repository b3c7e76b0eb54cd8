import GRDB
import HealthModel

/// The sums of digests by type and month.
struct DigestSums {
  struct Key: Hashable {
    /// The row id of the type.
    var type: Int64
    /// The month as ``CalendarMonth/number``.
    var month: Int
  }

  struct Value: Hashable {
    var samples = SetDigest.empty
    var tombstones = SetDigest.empty

    var isEmpty: Bool { samples.isEmpty && tombstones.isEmpty }

    static func += (lhs: inout Self, rhs: Self) {
      lhs.samples += rhs.samples
      lhs.tombstones += rhs.tombstones
    }
  }

  private(set) var values: [Key: Value] = [:]

  mutating func add(_ value: Value, to key: Key) {
    values[key, default: Value()] += value
  }

  mutating func add(_ other: DigestSums) {
    values.merge(other.values) { mine, theirs in
      var sum = mine
      sum += theirs
      return sum
    }
  }

  /// Returns the sums as a digest, sorted by type name and month, without empty months.
  func record(_ types: TypeNames, contents: [Key: UInt128]? = nil) throws -> RecordDigest {
    let byType = Dictionary(grouping: values.filter { !$0.value.isEmpty }, by: \.key.type)
    let digests = try byType.map { type, months in
      TypeDigest(
        type: try types.name(type),
        months: months.sorted { $0.key.month < $1.key.month }.map { key, value in
          MonthDigest(
            month: CalendarMonth(number: key.month), samples: value.samples, tombstones: value.tombstones,
            contents: contents.map { $0[key] ?? 0 })
        })
    }
    return RecordDigest(types: digests.sorted { SampleType.utf8Order($0.type, $1.type) })
  }
}

/// The types and months that a digest covers.
struct DigestScope {
  /// The row ids of the types, or `nil` for all types.
  var types: Set<Int64>?
  var months: ClosedRange<Int>

  static let everything = DigestScope(types: nil, months: Int.min...Int.max)

  func covers(_ key: DigestSums.Key) -> Bool {
    months.contains(key.month) && types?.contains(key.type) ?? true
  }
}
