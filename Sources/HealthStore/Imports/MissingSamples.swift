import HealthModel

/// What earlier exports held and a later one does not.
public struct MissingSamples: Sendable {
  /// The number of missing samples by type.
  public var counts: [SampleType: Int] = [:]
  /// What became of the samples that the later one does hold.
  var read: [SampleType: WriteSummary.Counts] = [:]

  /// Nothing is missing.
  public init() {}

  /// The number of missing samples of all types.
  public var total: Int { counts.values.reduce(0, +) }

  /// The share of the samples of earlier exports that is missing, from 0 to 1.
  public var share: Double {
    let known = read.values.reduce(0) { $0 + $1.unchanged } + total
    return known == 0 ? 0 : Double(total) / Double(known)
  }

  /// Types of which nothing that was known is left.
  public var wholeTypes: [SampleType] {
    counts.keys.filter { (read[$0]?.unchanged ?? 0) == 0 }.sorted { $0.rawValue < $1.rawValue }
  }
}
