import HealthModel

/// A sample of the records of each source, evenly spread over the file, in constant memory.
struct SourceSampling {
  /// The maximum number of records that are kept for each source.
  static let limit = 256
  /// The maximum number of sources. Further sources, which only a hostile file has, are not sampled.
  private static let sourceLimit = 4096

  private struct Sampled {
    var name: String
    var records: [(record: SampledRecord, hash: UInt64)] = []
    var seen = 0
    /// The sampling interval: one of every `stride` records is kept. A power of two.
    var stride = 1
  }

  private var names: [String: Int] = [:]
  private var sampled: [Sampled] = []

  /// Returns the number of a source, or `nil` if there are too many sources.
  mutating func number(of name: String) -> Int? {
    if let known = names[name] { return known }
    guard sampled.count < Self.sourceLimit else { return nil }
    names[name] = sampled.count
    sampled.append(Sampled(name: name))
    return sampled.count - 1
  }

  /// Counts a record of a source and returns whether it should be kept.
  mutating func wantsNext(of number: Int) -> Bool {
    sampled[number].seen += 1
    guard (sampled[number].seen - 1) & (sampled[number].stride - 1) == 0 else { return false }
    if sampled[number].records.count == Self.limit {
      // Keep every other record, and half as many from now on.
      sampled[number].records = stride(from: 0, to: Self.limit, by: 2).map { sampled[number].records[$0] }
      sampled[number].stride *= 2
    }
    return (sampled[number].seen - 1) & (sampled[number].stride - 1) == 0
  }

  /// Keeps a record of a source.
  ///
  /// - Parameters:
  ///   - key: the record's key without the source name.
  ///   - hash: the hash of the key.
  mutating func keep(_ key: SampleKey, hash: UInt64, value: Quantity?, of number: Int) {
    var record = SampledRecord(key: key, value: value)
    record.key.source = sampled[number].name
    sampled[number].records.append((record, hash))
  }

  /// Returns the sampled records by source name.
  ///
  /// - Parameter suspects: the hashes of keys that may occur more than once.
  func records(suspects: HashSet64) -> [String: [SampledRecord]] {
    names.mapValues { number in
      sampled[number].records.map { record, hash in
        var record = record
        record.isShared = suspects.contains(hash)
        return record
      }
    }
  }

  /// Returns the numeric value of a record, from its attributes.
  static func value(_ value: Bytes?, unit: Bytes?, type: String) -> Quantity? {
    guard let value else { return nil }
    if type.utf8.starts(with: "HKCategoryType".utf8) {
      let category = CategoryValueNames.healthKit.value(exported: XMLText.decode(value), type: SampleType(type))
      return category.value.map { Quantity(Double($0), "") }
    }
    return DecimalReader.read(value).map { Quantity($0.value, unit.map { XMLText.decode($0) } ?? "") }
  }
}
