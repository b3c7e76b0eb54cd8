import ArgumentParser

/// A set of benchmarks, whose names `--only` takes.
protocol BenchRow: RawRepresentable<String>, CaseIterable, Sendable {
  var title: String { get }
  func measure(_ bench: Bench) async throws -> Row
}

extension BenchRow {
  @Sendable static func list(_ text: String) throws -> [Self] {
    try text.split(separator: ",").map { name in
      guard let row = Self(rawValue: String(name)) else {
        throw ValidationError("There is no row \(name): \(names).")
      }
      return row
    }
  }

  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// The results of a benchmark.
struct Row: Sendable {
  let id: String
  let title: String
  var measures: [Measure] = []
  /// The reason why nothing was measured.
  var skipped: String?

  init(_ row: PullRow) { (id, title) = (row.rawValue, row.title) }
  init(_ row: ImportRow) { (id, title) = (row.rawValue, row.title) }
  init(_ row: LookRow) { (id, title) = (row.rawValue, row.title) }
  init(_ row: PhoneRow) { (id, title) = (row.rawValue, row.title) }
  init(_ row: ExportRow) { (id, title) = (row.rawValue, row.title) }
  /// - Parameter skipped: The reason why nothing was measured.
  init(_ row: DestinationRow, skipped: String? = nil) {
    (id, title, self.skipped) = (row.rawValue, row.title, skipped)
  }

  mutating func add(_ name: String, _ value: Double, _ unit: Measure.Unit, goal: Measure.Goal? = nil) {
    measures.append(Measure(name: name, value: value, unit: unit, goal: goal, runs: []))
  }

  /// Adds the median of several runs.
  mutating func add(_ name: String, medianOf runs: [Double], _ unit: Measure.Unit, goal: Measure.Goal? = nil) {
    measures.append(Measure(name: name, value: median(runs), unit: unit, goal: goal, runs: runs))
  }
}

/// A measured value and its goal.
struct Measure: Sendable {
  enum Unit: String, Sendable {
    case ratio, percent = "%", perSecond = "1/s", bytes, bytesPerSample = "bytes/sample"
    case microseconds = "us", milliseconds = "ms", seconds = "s", mebibytes = "MiB", count
  }

  enum Goal: Sendable {
    case atLeast(Double), atMost(Double)
  }

  let name: String
  let value: Double
  let unit: Unit
  let goal: Goal?
  /// The values of which ``value`` is the median.
  let runs: [Double]

  var isMet: Bool? {
    switch goal {
    case .atLeast(let bound): value >= bound
    case .atMost(let bound): value <= bound
    case nil: nil
    }
  }
}
