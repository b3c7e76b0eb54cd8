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
  /// whatever source, is one of them. Throws ``StoreError``.
  ///
  /// - Parameter type: `nil` for all together, whose order is that of the types' only where no two have another.
  public static func sources(of type: SampleType?, in store: HealthStore) async throws(StoreError) -> [SourceSummary] {
    try await store.samples.numbers { reader in
      let counts = try reader.sourceCounts(of: type)
      let sources = Dictionary(grouping: counts, by: \.id).compactMap { id, counts -> (Int64, Source, Int64)? in
        guard let first = counts.map(\.starts.lowerBound).min() else { return nil }
        return (id, counts[0].source, first)
      }
      let chosen = try type.flatMap { try reader.settings().firstSources[$0] }
      let ranking = try SourceRanking(of: sources, reader, first: chosen)
      var summaries: [Int: SourceSummary] = [:]
      for count in counts {
        let rank = ranking.rank(of: count.id, isUserEntered: count.isUserEntered)
        let starts =
          Timestamp(microseconds: count.starts.lowerBound)...Timestamp(microseconds: count.starts.upperBound)
        var summary = summaries[rank] ?? SourceSummary(source: ranking.sources[rank], samples: 0, starts: starts)
        summary.samples += count.samples
        summary.starts =
          min(summary.starts.lowerBound, starts.lowerBound)...max(summary.starts.upperBound, starts.upperBound)
        summaries[rank] = summary
      }
      return summaries.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}
