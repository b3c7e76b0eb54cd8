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

  /// What of it lies before a time.
  func before(_ time: Int64) -> StageLine {
    var line = self
    line.segments = segments.filter { $0.start < time }
    if let last = line.segments.last { line.segments[line.segments.count - 1].end = min(last.end, time) }
    return line
  }

  /// What of it lies after a time.
  func after(_ time: Int64) -> StageLine {
    var line = self
    line.segments = segments.filter { $0.end > time }
    if let first = line.segments.first { line.segments[0].start = max(first.start, time) }
    return line
  }

  /// Puts another, all of which lies before or after this one, where it belongs.
  mutating func add(_ other: StageLine) {
    guard let span = other.span else { return }
    let isBefore = self.span.map { span.upperBound <= $0.lowerBound } ?? true
    let all = isBefore ? other.segments + segments : segments + other.segments
    segments = []
    for entry in all { append(entry) }
  }
}
