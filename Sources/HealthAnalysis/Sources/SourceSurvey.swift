import HealthModel
import HealthStore

/// The samples that a source recorded, of one type or of all types.
public struct SourceSummary: Hashable, Sendable {
  public var source: SourceRanking.Entry
  public var samples: Int
  /// The starts of the first and the last sample.
  public var starts: ClosedRange<Timestamp>
}

/// A survey of the sources in a store.
public enum SourceSurvey {
  /// Returns the sources from the highest rank to the lowest; see ``SourceRanking``. Manual entries of all sources
  /// form a single entry. Reads all samples of the type; ``Rollups/sources(of:)`` is faster.
  ///
  /// - Parameter type: the type, or `nil` for all types together. The ranking of all types may differ from that of a
  ///   single type.
  /// - Throws: ``StoreError``.
  public static func sources(of type: SampleType?, in store: HealthStore) async throws(StoreError) -> [SourceSummary] {
    try await store.samples.numbers { reader in
      let counts = try reader.sourceCounts(of: type)
      let chosen = try type.flatMap { try reader.settings().firstSources[$0] }
      let known = Dictionary(counts.map { ($0.id, $0.source) }, uniquingKeysWith: { first, _ in first })
      let sources = counts.firsts.compactMap { id, first in known[id].map { (id: id, source: $0, first: first) } }
      return summaries(counts, try SourceRanking(of: sources, reader, first: chosen))
    }
  }

  /// Returns a summary for each rank that has samples.
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
