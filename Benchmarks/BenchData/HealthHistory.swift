import Foundation
import HealthModel
import TestSupport

/// Ten years of a person's synthetic health record, the same samples for the same seed.
///
///     for sample in HealthHistory(seed: 1, count: 1_000_000) { … }
///
/// The mix of types, the gaps between samples and the values are modelled on real exports: mostly heart rate, energy,
/// steps and distance, a third with metadata. The samples come in the order in which a real store receives them. The
/// first years are an import of Apple's export: a block for each type, whole seconds, values of six digits. The rest
/// arrived live: types mixed by time, with microseconds and full doubles where HealthKit has them. Only one sample of
/// each type is in memory at a time.
public struct HealthHistory: Sequence, IteratorProtocol, Sendable {
  public enum Identity: String, Sendable, CaseIterable {
    /// Random UUIDs (version 4), like those of HealthKit.
    case random
    /// UUIDs derived by ``SampleIdentity``, as in an import.
    case derived
  }

  /// The start of the record, 2015-01-01T00:00:00Z. `span` is its length of ten years, in seconds.
  static let begin: Int64 = 1_420_070_400
  static let span: Int64 = 3652 * 86_400
  private var series: [Series]
  /// The index of the series that is being returned as a block. Beyond the last series, the remaining samples come by
  /// time.
  private var block = 0
  private var waiting: [Sample] = []
  private var left: Int

  /// - Parameters:
  ///   - count: The exact number of samples.
  ///   - imported: The share of the years that came by import, from 0 to 1.
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

  /// Returns the next samples, at most `count`, or an empty array at the end.
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
