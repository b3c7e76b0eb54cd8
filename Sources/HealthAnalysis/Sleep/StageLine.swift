import HealthModel

/// What one source says of a session: stages that follow each other, or nothing for a while.
struct StageLine {
  struct Entry: Hashable {
    /// In microseconds.
    var start: Int64
    var end: Int64
    var stage: SleepStage
  }

  /// In order of time, none over another.
  private(set) var segments: [Entry] = []

  /// - Parameter entries: in any order; where several say something of one time, awake holds before deep, deep before REM,
  ///   REM before core, core before what has no kind.
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

  /// From the first segment to the last.
  var span: Range<Int64>? {
    guard let first = segments.first, let last = segments.last else { return nil }
    return first.start..<last.end
  }

  /// The times of which it says nothing, from the beginning of time to its end, in order.
  var silence: [Range<Int64>] {
    var (stretches, end): ([Range<Int64>], Int64) = ([], .min)
    for segment in segments {
      if end < segment.start { stretches.append(end..<segment.start) }
      end = segment.end
    }
    return end < .max ? stretches + [end..<Int64.max] : stretches
  }

  /// What of it lies in a time.
  func part(in range: Range<Int64>) -> StageLine {
    var line = self
    line.segments = segments.overlapping(range, \.start, \.end).map { segment in
      Entry(
        start: max(segment.start, range.lowerBound), end: min(segment.end, range.upperBound), stage: segment.stage)
    }
    return line
  }

  /// Puts others, none of which lies over this one or another, where they belong.
  mutating func add(_ others: [StageLine]) {
    if others.isEmpty { return }
    let all = (segments + others.flatMap(\.segments)).sorted { $0.start < $1.start }
    segments = []
    for entry in all { append(entry) }
  }
}

extension Array {
  /// Those that overlap a time, of such as are in order, none empty or over another.
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
