import HealthAnalysis
import HealthModel
import Terminal

/// How the numbers of a type are written for people, in tables and in charts.
struct StatisticsText {
  let statistics: Statistics
  let zone: ZoneRules

  /// `stepCount, by day, Europe/Berlin`
  var heading: String {
    let unit = statistics.unit.map { $0 == "count" ? "" : ", \(NumberText.name(of: $0))" } ?? ""
    return "\(name)\(unit), by \(statistics.size.rawValue), \(statistics.zone)"
  }

  var name: String { PlainText.escaped(statistics.type.shortName, limit: 100) }

  /// `2024-06-15`, `2024-06-15 14:00`, `2024-06`: as short as it can be.
  func label(_ bucket: Bucket) -> String {
    let text = zone.text(bucket.start)
    let date = zone.date(bucket.start)
    return switch statistics.size {
    // The hour that came twice is told by its offset.
    case .hour:
      "\(date) \(text.dropFirst(date.count + 1).prefix(5))" + (bucket.isRepeated(in: zone) ? text.suffix(6) : "")
    case .day, .week: date
    case .month: String(date.dropLast(3))
    case .year: String(date.dropLast(6))
    }
  }

  func number(_ value: Double) -> String {
    NumberText(unit: statistics.unit, aggregation: statistics.aggregation).number(value)
  }

  func withUnit(_ value: Double) -> String {
    NumberText(unit: statistics.unit, aggregation: statistics.aggregation).withUnit(value)
  }

  /// What a table does not show.
  func sayLeftOut() {
    if statistics.values.isEmpty { Console.say("No sample of \(name) in this range.") }
    if statistics.withoutNumber > 0 {
      Console.say("Left out: \(HumanFormat.count(statistics.withoutNumber, "sample")) without a number.")
    }
    if statistics.withoutUnit > 0 {
      Console.say("Left out: \(HumanFormat.count(statistics.withoutUnit, "sample")) in another kind of unit.")
    }
    ImplausibleTime.say(statistics.implausibleTime)
    let sent = statistics.values.count { value in
      switch value.number {
      case .sum(let sum): sum.readings != 0
      case .discrete(let values): values.readings > 0
      }
    }
    if sent > 0 {
      let size = HumanFormat.count(sent, statistics.size.rawValue)
      Console.say("Sent by an app and measured by no sample, in part or whole: \(size). --strict leaves it out.")
    }
    let twins = statistics.values.reduce(0) { count, value in
      if case .sum(let sum) = value.number { count + sum.twins } else { count }
    }
    if twins > 0 { Console.say("Counted once: \(HumanFormat.count(twins, "sample")) that a source has twice.") }
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
