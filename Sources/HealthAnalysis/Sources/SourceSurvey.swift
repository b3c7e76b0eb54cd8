import HealthModel
import HealthStore

/// What a source has recorded of a type, or of all.
public struct SourceSummary: Hashable, Sendable {
  public var source: SourceRanking.Entry
  public var samples: Int
  /// The starts of the first sample and the last.
  public var starts: ClosedRange<Timestamp>
}

/// Lists the sources of a store.
public enum SourceSurvey {
  /// In the order in which they count, from the highest rank to the lowest; see ``SourceRanking``. What people typed, of
  /// whatever source, is one of them. Reads all samples of the type; ``Rollups/sources(of:)`` does not. Throws ``StoreError``.
  ///
  /// - Parameter type: `nil` for all together, whose order is that of the types' only where no two have another.
  public static func sources(of type: SampleType?, in store: HealthStore) async throws(StoreError) -> [SourceSummary] {
    try await store.samples.numbers { reader in
      let counts = try reader.sourceCounts(of: type)
      let chosen = try type.flatMap { try reader.settings().firstSources[$0] }
      let known = Dictionary(counts.map { ($0.id, $0.source) }, uniquingKeysWith: { first, _ in first })
      let sources = counts.firsts.compactMap { id, first in known[id].map { (id: id, source: $0, first: first) } }
      return summaries(counts, try SourceRanking(of: sources, reader, first: chosen))
    }
  }

  /// Counts of the sources that a ranking is of, one for each rank.
  static func summaries(_ counts: [NumberReader.SourceCount], _ ranking: SourceRanking) -> [SourceSummary] {
    var summaries: [Int: SourceSummary] = [:]
    for count in counts {
      let rank = ranking.rank(of: count.id, isUserEntered: count.isUserEntered)
      let starts = Timestamp(microseconds: count.starts.lowerBound)...Timestamp(microseconds: count.starts.upperBound)
      var summary = summaries[rank] ?? SourceSummary(source: ranking.sources[rank], samples: 0, starts: starts)
      summary.samples += count.samples
      summary.starts =
        min(summary.starts.lowerBound, starts.lowerBound)...max(summary.starts.upperBound, starts.upperBound)
      summaries[rank] = summary
    }
    return summaries.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension [NumberReader.SourceCount] {
  /// The start of each source's first sample.
  var firsts: [(source: Int64, first: Int64)] {
    Dictionary(map { ($0.id, $0.starts.lowerBound) }, uniquingKeysWith: Swift.min).map { ($0.key, $0.value) }
  }
}
