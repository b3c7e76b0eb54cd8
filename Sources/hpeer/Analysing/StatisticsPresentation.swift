import Foundation
import HealthAnalysis
import HealthModel
import Terminal

/// The numbers of a type as a table for people.
struct StatisticsPresentation {
  let statistics: Statistics
  let zone: ZoneRules

  func print() throws {
    let name = PlainText.escaped(statistics.type.shortName, limit: 100)
    guard !statistics.values.isEmpty else {
      Console.say("No sample of \(name) in this range.")
      return sayLeftOut()
    }
    let unit = statistics.unit.map { $0 == "count" ? "" : ", \(PlainText.escaped($0, limit: 40))" } ?? ""
    try Console.print("\(name)\(unit), by \(statistics.size.rawValue), \(statistics.zone)")
    try Console.print(statistics.aggregation == .cumulative ? sums() : values())
    sayLeftOut()
  }

  private func sayLeftOut() {
    if statistics.withoutNumber > 0 {
      Console.say("Left out: \(HumanFormat.count(statistics.withoutNumber, "sample")) without a number.")
    }
    if statistics.withoutUnit > 0 {
      Console.say("Left out: \(HumanFormat.count(statistics.withoutUnit, "sample")) in another kind of unit.")
    }
    let twins = statistics.values.reduce(0) { count, value in
      if case .sum(let sum) = value.number { count + sum.twins } else { count }
    }
    if twins > 0 {
      Console.say("Counted once: \(HumanFormat.count(twins, "sample")) that a source has twice.")
    }
  }

  private func sums() -> Table {
    var table = Table(columns: [.init(title, isWhole: true), .init("SUM", .trailing), .init("SOURCES")])
    for value in statistics.values {
      guard case .sum(let sum) = value.number else { continue }
      table.append([
        .init(label(value)), .init(number(sum.sum)),
        .init(sum.sources.map { PlainText.escaped($0.name, limit: 40) }.joined(separator: ", ")),
      ])
    }
    return table
  }

  private func values() -> Table {
    var table = Table(columns: [
      .init(title, isWhole: true), .init("MEAN", .trailing), .init("MIN", .trailing), .init("MAX", .trailing),
      .init("LAST", .trailing), .init("SAMPLES", .trailing),
    ])
    for value in statistics.values {
      guard case .discrete(let values) = value.number else { continue }
      table.append([
        .init(label(value)), .init(values.mean.map(number) ?? "-"), .init(number(values.minimum)),
        .init(number(values.maximum)), .init(number(values.last)), .init(HumanFormat.count(values.count)),
      ])
    }
    return table
  }

  private var title: String { statistics.size == .week ? "WEEK OF" : statistics.size.rawValue.uppercased() }

  private func label(_ value: BucketStatistics) -> String {
    let date = zone.date(value.bucket.start)
    let label =
      switch statistics.size {
      case .hour: "\(date) \(zone.text(value.bucket.start).dropFirst(date.count + 1).prefix(5))"
      case .day, .week: date
      case .month: String(date.dropLast(3))
      case .year: String(date.dropLast(6))
      }
    // The hour that came twice is told by its offset.
    let offset =
      statistics.size == .hour && value.bucket.isRepeated(in: zone) ? zone.text(value.bucket.start).suffix(6) : ""
    return label + offset + (value.isPartial ? " *" : "")
  }

  /// Percent as percent; counts of cumulative types are rounded down, as the Health app shows them.
  private func number(_ value: Double) -> String {
    if statistics.unit == "%" { return "\(HumanFormat.number(Self.rounded(value * 100, digits: 1))) %" }
    guard statistics.aggregation == .cumulative, value.magnitude < 1e15 else {
      return HumanFormat.number(Self.rounded(value, digits: 2))
    }
    // 289.99999999999994 is 290 steps.
    if statistics.unit == "count" { return HumanFormat.count(Int((value + value.magnitude * 1e-9).rounded(.down))) }
    return HumanFormat.number(Self.rounded(value, digits: 1))
  }

  private static func rounded(_ value: Double, digits: Int) -> Double {
    let scale = pow(10, Double(digits))
    return value.magnitude < 1e12 ? (value * scale).rounded() / scale : value
  }
}

extension Bucket {
  /// Whether clocks of the zone show its start twice.
  fileprivate func isRepeated(in zone: ZoneRules) -> Bool {
    [-7200, 7200].contains { shift in
      let other = zone.offset(at: start.seconds + Int64(shift))
      guard other != offset else { return false }
      return zone.offset(at: start.seconds + Int64(offset - other)) == other
    }
  }
}
