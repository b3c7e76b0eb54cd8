import HealthModel

/// The stages of a session according to one source, possibly with gaps.
struct StageLine {
  struct Entry: Hashable {
    /// The start in microseconds, as is ``end``.
    var start: Int64
    var end: Int64
    var stage: SleepStage
  }

  /// The stages in order of time, without overlaps.
  private(set) var segments: [Entry] = []

  /// Creates a line of stages.
  ///
  /// - Parameter entries: in any order. Where entries overlap, awake takes precedence over deep, deep over REM, REM
  ///   over core, core over unspecified sleep.
  init(_ entries: [Entry]) {
    struct Edge {
      var time: Int64
      var stage: SleepStage
      var change: Int
    }
    let edges = entries.flatMap { entry in
      entry.start < entry.end
        ? [
          Edge(time: entry.start, stage: entry.stage, change: 1), Edge(time: entry.end, stage: entry.stage, change: -1),
        ]
        : []
    }.sorted { $0.time < $1.time }
    let stages = SleepStage.allCases.sorted { $0.precedence > $1.precedence }
    var open = Array(repeating: 0, count: SleepStage.allCases.count)
    var time = edges.first?.time ?? 0
    for edge in edges {
      if edge.time > time, let stage = stages.first(where: { open[$0.rawValue] > 0 }) {
        append(Entry(start: time, end: edge.time, stage: stage))
      }
      open[edge.stage.rawValue] += edge.change
      time = edge.time
    }
  }

  private mutating func append(_ entry: Entry) {
    if let last = segments.last, last.end == entry.start, last.stage == entry.stage {
      segments[segments.count - 1].end = entry.end
    } else {
      segments.append(entry)
    }
  }

  /// The range from the first segment to the last.
  var span: Range<Int64>? {
    guard let first = segments.first, let last = segments.last else { return nil }
    return first.start..<last.end
  }

  /// The times without stages, from the beginning to the end of time, in order.
  var silence: [Range<Int64>] {
    var (stretches, end): ([Range<Int64>], Int64) = ([], .min)
    for segment in segments {
      if end < segment.start { stretches.append(end..<segment.start) }
      end = segment.end
    }
    return end < .max ? stretches + [end..<Int64.max] : stretches
  }

  /// Returns the part of the line in a range of time.
  func part(in range: Range<Int64>) -> StageLine {
    var line = self
    line.segments = segments.overlapping(range, \.start, \.end).map { segment in
      Entry(
        start: max(segment.start, range.lowerBound), end: min(segment.end, range.upperBound), stage: segment.stage)
    }
    return line
  }

  /// Adds lines that overlap neither this line nor each other.
  mutating func add(_ others: [StageLine]) {
    if others.isEmpty { return }
    let all = (segments + others.flatMap(\.segments)).sorted { $0.start < $1.start }
    segments = []
    for entry in all { append(entry) }
  }
}

extension Array {
  /// Returns the elements that overlap a range. The array must be in order, and its elements nonempty and disjoint.
  func overlapping<Time: Comparable>(
    _ range: Range<Time>, _ start: KeyPath<Element, Time>, _ end: KeyPath<Element, Time>
  ) -> ArraySlice<Element> {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle][keyPath: end] <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return self[low...].prefix { $0[keyPath: start] < range.upperBound }
  }
}
