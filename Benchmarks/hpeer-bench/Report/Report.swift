import Foundation
import Terminal

/// The result of a run, printed as a table or as a JSON object.
struct Report {
  var rows: [Row] = []
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  /// Whether this program, and so most likely the hpeer beside it, is a debug build.
  private static var isDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  private static let warning = "This is a debug build: the numbers mean nothing."
  private static let hint = "Quick: too few samples to judge by."

  /// Whether goals are judged. They aren't in debug builds and quick runs.
  private var isJudged: Bool { !Self.isDebug && !bench.sizes.isQuick }

  func print(json: Bool) throws {
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
      return try OutputWriter.standardOutput.writeLine(String(decoding: try encoder.encode(summary), as: UTF8.self))
    }
    try OutputWriter.standardOutput.writeLines(table)
  }

  // MARK: For people

  private var table: [String] {
    var table = Table(columns: [.init("WHAT"), .init("MEASURED", .trailing), .init("GOAL", .trailing), .init("")])
    for row in rows {
      table.append([.init("\(row.id): \(row.title)", .bold)])
      if let skipped = row.skipped { table.append([.init("  skipped: \(skipped)")]) }
      for measure in row.measures {
        table.append([
          .init("  \(measure.name)"), .init(measure.text), .init(measure.goalText),
          .init(verdict(measure)),
        ])
      }
    }
    let head =
      "\(HumanFormat.count(bench.sizes.samples, "sample")), \(Int(bench.imported * 100)) % imported, \(bench.identity) UUIDs, seed \(bench.seed), "
      + "\(ProcessInfo.processInfo.activeProcessorCount) processors, medians of \(bench.sizes.repeats)"
    let warning = Self.isDebug ? Self.warning : bench.sizes.isQuick ? Self.hint : nil
    return [warning, head, ""].compactMap(\.self) + table.rendered()
  }

  private func verdict(_ measure: Measure) -> String {
    guard let isMet = measure.isMet else { return "" }
    return isJudged ? isMet ? "met" : "NOT MET" : "not judged"
  }

  // MARK: For programs

  private struct Summary: Encodable {
    struct Entry: Encodable {
      var id: String
      var title: String
      var skipped: String?
      var measures: [Number]
    }

    struct Number: Encodable {
      var name: String
      var value: Double?
      var unit: String
      var atLeast: Double?
      var atMost: Double?
      /// Whether the goal is met, or `nil` if there is no goal or goals aren't judged.
      var isMet: Bool?
      var runs: [Double]?
    }

    var configuration: String
    var processors: Int
    var samples: Int
    var largeSamples: Int
    var repeats: Int
    var seed: UInt64
    var identity: String
    var imported: Double
    var rows: [Entry]
  }

  private var summary: Summary {
    Summary(
      configuration: Self.isDebug ? "debug" : "release",
      processors: ProcessInfo.processInfo.activeProcessorCount, samples: bench.sizes.samples,
      largeSamples: bench.sizes.large, repeats: bench.sizes.repeats, seed: bench.seed,
      identity: bench.identity.rawValue, imported: bench.imported,
      rows: rows.map { row in
        Summary.Entry(
          id: row.id, title: row.title, skipped: row.skipped,
          measures: row.measures.map { measure in
            var number = Summary.Number(
              name: measure.name, value: measure.value.isFinite ? measure.value : nil, unit: measure.unit.rawValue,
              isMet: isJudged ? measure.isMet : nil, runs: measure.runs.isEmpty ? nil : measure.runs)
            switch measure.goal {
            case .atLeast(let bound): number.atLeast = bound
            case .atMost(let bound): number.atMost = bound
            case nil: break
            }
            return number
          })
      })
  }
}

extension Measure {
  fileprivate var text: String { Self.text(value, unit) }

  fileprivate var goalText: String {
    switch goal {
    case .atLeast(let bound): ">= \(Self.text(bound, unit))"
    case .atMost(let bound): "<= \(Self.text(bound, unit))"
    case nil: ""
    }
  }

  private static func text(_ value: Double, _ unit: Unit) -> String {
    switch unit {
    case .ratio: "\(fixed(value, places: 2)) x"
    case .percent: "\(fixed(value, places: 3)) %"
    case .perSecond: HumanFormat.rate(perSecond: value)
    case .bytes: "\(HumanFormat.count(Int(value.rounded()))) B"
    case .bytesPerSample: "\(fixed(value, places: 1)) B"
    case .microseconds: "\(fixed(value, places: 2)) us"
    case .seconds: "\(fixed(value, places: 2)) s"
    case .milliseconds: "\(fixed(value, places: 1)) ms"
    case .mebibytes: "\(fixed(value, places: 1)) MiB"
    case .count: value == value.rounded() ? HumanFormat.count(Int(value)) : fixed(value, places: 2)
    }
  }

  private static func fixed(_ value: Double, places: Int) -> String { String(format: "%.\(places)f", value) }
}
