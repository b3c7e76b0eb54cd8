import Foundation
import HealthModel
import TestSupport

/// Ten years of one person's made-up health record, the same samples from the same seed.
///
///     for sample in HealthHistory(seed: 1, count: 1_000_000) { … }
///
/// The mix, the gaps between samples and their values follow real exports: mostly heart rate, energy, steps and
/// distance, a third with metadata. The samples come as they come to be in a real store. The first years are an import of
/// Apple's export: a block for each type, whole seconds, values of six digits. What follows came live, types mixed by
/// time, with microseconds and full doubles where HealthKit has them. Nothing is held but one sample a type.
public struct HealthHistory: Sequence, IteratorProtocol, Sendable {
  public enum Identity: String, Sendable, CaseIterable {
    /// Random UUIDs (version 4), as HealthKit's are.
    case random
    /// Those of ``SampleIdentity``, as an import's are.
    case derived
  }

  /// 2015-01-01T00:00:00Z, and ten years.
  static let begin: Int64 = 1_420_070_400
  static let span: Int64 = 3652 * 86_400
  private var series: [Series]
  /// The block that is being written; beyond the last, all that is left comes by time.
  private var block = 0
  private var waiting: [Sample] = []
  private var left: Int

  /// - Parameters:
  ///   - count: how many samples, exactly.
  ///   - imported: the share of the years that came by import, from 0 to 1.
  public init(seed: UInt64, count: Int, identity: Identity = .random, imported: Double = 0.9) {
    left = count
    let live = Self.begin + Int64(Double(Self.span) * imported)
    series = SeriesKind.all.enumerated().map { index, kind in
      Series(
        kind, count: kind.count(of: count), identity: identity, live: live,
        random: SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(index)))
    }
  }

  public mutating func next() -> Sample? {
    guard left > 0 else { return nil }
    if waiting.isEmpty { waiting = step().reversed() }
    left -= 1
    return waiting.popLast()
  }

  /// The next samples, at most `count`; empty at the end.
  public mutating func next(_ count: Int) -> [Sample] {
    var samples: [Sample] = []
    samples.reserveCapacity(Swift.min(count, left))
    while samples.count < count, let sample = next() { samples.append(sample) }
    return samples
  }

  private mutating func step() -> [Sample] {
    while block < series.count {
      if series[block].hasImports { return series[block].next() }
      block += 1
    }
    // The first type has no end, so that rounding leaves no gap.
    let next = series.indices.filter { !series[$0].isOver }.min { series[$0].start < series[$1].start }
    return series[next ?? 0].next()
  }
}
