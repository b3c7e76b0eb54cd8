import HealthModel
import HealthStore

/// Stored facts about types: the ranking of their sources and the length of the longest sample.
///
/// Without them, a query about a few days reads all samples of the store: ranking sources needs the number of samples
/// by device, and finding samples that reach into a period requires all earlier ones.
struct KeptFacts: Sendable {
  /// No facts, so that everything is read from samples.
  static let none = KeptFacts(rankings: [:], longest: [:])

  private let rankings: [SampleType: SourceRanking]
  private let longest: [SampleType: Int64]

  /// Creates facts.
  ///
  /// - Parameters:
  ///   - rankings: the rankings, which must equal those computed from samples.
  ///   - longest: the maximum length of samples in microseconds.
  init(rankings: [SampleType: SourceRanking], longest: [SampleType: Int64]) {
    (self.rankings, self.longest) = (rankings, longest)
  }

  /// Returns the ranking of a type's sources.
  ///
  /// - Parameter reader: a reader of the store, for types without facts.
  func ranking(of type: SampleType, _ reader: NumberReader) throws -> SourceRanking {
    try rankings[type] ?? SourceRanking(of: type, reader)
  }

  /// Returns the maximum length of the type's samples in microseconds, or `nil` if it is unknown.
  func longest(of type: SampleType) -> Int64? { longest[type] }
}
