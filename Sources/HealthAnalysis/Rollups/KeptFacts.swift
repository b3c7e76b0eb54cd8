import HealthModel
import HealthStore

/// What is known of some types without reading their samples: how their sources are ranked, and how long the longest sample is.
///
/// Without it, a question about a few days reads all samples of the store: to rank sources, it counts which device measured
/// how many of them, and to find what reaches into a time, it looks at all that began before.
struct KeptFacts: Sendable {
  /// Nothing is known: everything is read from samples.
  static let none = KeptFacts(rankings: [:], longest: [:])

  private let rankings: [SampleType: SourceRanking]
  private let longest: [SampleType: Int64]

  /// - Parameters:
  ///   - rankings: equal to what the samples say.
  ///   - longest: in microseconds; no sample of the type is longer.
  init(rankings: [SampleType: SourceRanking], longest: [SampleType: Int64]) {
    (self.rankings, self.longest) = (rankings, longest)
  }

  /// - Parameter reader: of the store, for a type of which nothing is known.
  func ranking(of type: SampleType, _ reader: NumberReader) throws -> SourceRanking {
    try rankings[type] ?? SourceRanking(of: type, reader)
  }

  /// In microseconds: no sample of the type is longer. `nil` where that is not known.
  func longest(of type: SampleType) -> Int64? { longest[type] }
}
