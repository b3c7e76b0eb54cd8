import HealthModel

/// A builder of sleep sessions from samples, with the stages of each session.
///
/// Samples must be added in order of their starts. Only those of the current session are held in memory.
struct SleepSessions {
  /// The maximum gap between samples of the same session, in microseconds.
  static let longestGap: Int64 = 3600 * 1_000_000
  /// The minimum span of another source's stages to fill a gap, in microseconds. The gap is where the chosen source
  /// has no data, for example because of an empty battery: before its first stage, after its last or between them.
  /// Shorter additions are only disagreements.
  static let shortestAddition: Int64 = 3600 * 1_000_000

  /// The maximum length of a sample, in microseconds. Longer samples are ignored as implausible.
  static let longest: Int64 = 48 * 3600 * 1_000_000

  private struct Sample {
    var entry: StageLine.Entry
    var rank: Int
  }

  private let names: [String]
  private var samples: [Sample] = []
  private var end = Int64.min
  private(set) var sessions: [SleepSession] = []

  /// Creates a builder.
  ///
  /// - Parameter names: the names of sources by rank, the highest first.
  init(names: [String]) {
    self.names = names
  }

  /// Adds a sample.
  ///
  /// - Parameter start: microseconds; not before that of the previous sample.
  mutating func add(start: Int64, end: Int64, stage: SleepStage, rank: Int) {
    let (length, isEndless) = end.subtractingReportingOverflow(start)
    if isEndless || length > Self.longest { return }
    let (gap, isTooLong) = start.subtractingReportingOverflow(self.end)
    if !samples.isEmpty, start > self.end, isTooLong || gap > Self.longestGap { close() }
    self.end = samples.isEmpty ? end : max(self.end, end)
    samples.append(Sample(entry: StageLine.Entry(start: start, end: end, stage: stage), rank: rank))
  }

  mutating func finish() -> [SleepSession] {
    close()
    return sessions
  }

  private mutating func close() {
    guard let first = samples.first else { return }
    defer { samples.removeAll(keepingCapacity: true) }
    let labels = Dictionary(grouping: samples.filter { $0.entry.stage.isLabel }, by: \.rank)
      .mapValues { StageLine($0.map(\.entry)) }.filter { !$0.value.segments.isEmpty }
    let teller =
      labels.filter { $0.value.segments.contains { $0.stage.isDetailed } }.keys.min() ?? labels.keys.min()
    let line = stages(labels, toldBy: teller)
    let inBed = samples.filter { !$0.entry.stage.isLabel }.map(\.entry)
    let all = Self.union(inBed + line.segments)
    sessions.append(
      SleepSession(
        start: Timestamp(microseconds: first.entry.start), end: Timestamp(microseconds: end),
        source: teller.map { names[$0] },
        segments: line.segments.map {
          SleepSession.Segment(
            start: Timestamp(microseconds: $0.start), end: Timestamp(microseconds: $0.end), stage: $0.stage)
        },
        inBed: all, layDown: inBed.isEmpty ? nil : all.first?.lowerBound))
  }

  /// Returns the stages of a session.
  ///
  /// - Parameter teller: the rank of the source that alone determines the stages wherever it has data.
  private func stages(_ labels: [Int: StageLine], toldBy teller: Int?) -> StageLine {
    guard let teller, var line = labels[teller] else { return StageLine([]) }
    for rank in labels.keys.sorted() where rank != teller {
      guard let other = labels[rank] else { continue }
      let additions = line.silence.filter(Self.isLong).map(other.part).filter { $0.span.map(Self.isLong) ?? false }
      line.add(additions)
    }
    return line
  }

  private static func isLong(_ time: Range<Int64>) -> Bool {
    let (length, isTooLong) = time.upperBound.subtractingReportingOverflow(time.lowerBound)
    return isTooLong || length >= shortestAddition
  }

  private static func union(_ entries: [StageLine.Entry]) -> [Range<Timestamp>] {
    var ranges: [Range<Timestamp>] = []
    for entry in entries.sorted(by: { $0.start < $1.start }) where entry.start < entry.end {
      let range = Timestamp(microseconds: entry.start)..<Timestamp(microseconds: entry.end)
      if let last = ranges.last, range.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }
}
