import HealthModel
import HealthStore

/// The rankings of sources that a question needs: those that are kept beside the store (``Rollups``), others from its samples.
///
/// To rank the sources of a type by samples, all of the store's are read; to rank them by what is kept, a row for each day.
struct SourceRankings: Sendable {
  /// None that is kept: each is read from samples.
  static let computed = SourceRankings(kept: [:])

  private let kept: [SampleType: SourceRanking]

  /// - Parameter kept: equal to what the samples say.
  init(kept: [SampleType: SourceRanking]) {
    self.kept = kept
  }

  /// - Parameter reader: of the store, for a type of which nothing is kept.
  func ranking(of type: SampleType, _ reader: NumberReader) throws -> SourceRanking {
    try kept[type] ?? SourceRanking(of: type, reader)
  }
}
