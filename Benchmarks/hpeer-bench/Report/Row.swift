/// What was measured under one title.
struct Row: Sendable {
  let row: PullRow
  var measures: [Measure] = []
  /// Why nothing was measured.
  var skipped: String?

  init(_ row: PullRow) { self.row = row }

  mutating func add(_ name: String, _ value: Double, _ unit: Measure.Unit, goal: Measure.Goal? = nil) {
    measures.append(Measure(name: name, value: value, unit: unit, goal: goal, runs: []))
  }

  /// The median of several runs.
  mutating func add(_ name: String, medianOf runs: [Double], _ unit: Measure.Unit, goal: Measure.Goal? = nil) {
    measures.append(Measure(name: name, value: median(runs), unit: unit, goal: goal, runs: runs))
  }
}

/// One number, and what it ought to be.
struct Measure: Sendable {
  enum Unit: String, Sendable {
    case ratio, perSecond = "1/s", bytes, bytesPerSample = "bytes/sample", microseconds = "us", seconds = "s",
      milliseconds = "ms"
    case mebibytes = "MiB", count
  }

  enum Goal: Sendable {
    case atLeast(Double), atMost(Double)
  }

  let name: String
  let value: Double
  let unit: Unit
  let goal: Goal?
  /// What ``value`` is the median of.
  let runs: [Double]

  var isMet: Bool? {
    switch goal {
    case .atLeast(let bound): value >= bound
    case .atMost(let bound): value <= bound
    case nil: nil
    }
  }
}
