import Foundation
import HealthAnalysis
import HealthModel
import Terminal

/// The format of a type's numbers for people, in tables and in charts.
struct StatisticsText {
  let statistics: Statistics
  let zone: ZoneRules

  /// The heading: `stepCount, by day, Europe/Berlin`.
  var heading: String {
    let unit = statistics.unit.map { $0 == "count" ? "" : ", \(NumberText.name(of: $0))" } ?? ""
    return "\(name)\(unit), by \(statistics.size.rawValue), \(statistics.zone)"
  }

  var name: String { PlainText.escaped(statistics.type.shortName, limit: 100) }

  /// Returns the shortest label of a bucket: `2024-06-15`, `2024-06-15 14:00`, `2024-06`.
  func label(_ bucket: Bucket) -> String {
    let text = zone.text(bucket.start)
    let date = zone.date(bucket.start)
    return switch statistics.size {
    // An hour that occurs twice is told by its offset.
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

  /// Says which samples were left out, counted once, or sent by an app.
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
  /// Returns whether clocks of the zone show the start of the bucket twice.
  fileprivate func isRepeated(in zone: ZoneRules) -> Bool {
    [-7200, 7200].contains { shift in
      let other = zone.offset(at: start.seconds + Int64(shift))
      guard other != offset else { return false }
      return zone.offset(at: start.seconds + Int64(offset - other)) == other
    }
  }
}

/// The format of numbers of one unit for people.
struct NumberText {
  /// The unit; `nil` if it is unknown.
  var unit: String?
  var aggregation: SampleTypeCatalogue.Aggregation

  /// Returns a number without its unit, but per cent with its sign. Counts of cumulative types are rounded down, as
  /// the Health app shows them.
  func number(_ value: Double) -> String {
    if unit == "%" { return "\(HumanFormat.grouped(Self.rounded(value * 100, digits: 1))) %" }
    guard aggregation == .cumulative, value.magnitude < 1e15, !["km", "mi"].contains(unit) else {
      return HumanFormat.grouped(Self.rounded(value, digits: 2))
    }
    // 289.99999999999994 is 290 steps.
    if unit == "count" { return HumanFormat.count(Int((value + value.magnitude * 1e-9).rounded(.down))) }
    return HumanFormat.grouped(Self.rounded(value, digits: 1))
  }

  /// Returns a number with its unit: `6,700`, `72.4 kg`, `98 %`.
  func withUnit(_ value: Double) -> String {
    guard let unit, unit != "count", unit != "%" else { return number(value) }
    return "\(number(value)) \(Self.name(of: unit))"
  }

  /// Returns a unit as people write it.
  static func name(of unit: String) -> String {
    let names = Console.capabilities.usesUTF8 ? ["degC": "°C", "degF": "°F"] : [:]
    return names[unit] ?? ["dBASPL": "dB", "dBHL": "dB"][unit] ?? PlainText.escaped(unit, limit: 40)
  }

  /// Returns a value rounded to `digits` decimals. A value below 1 keeps three significant digits whatever `digits`
  /// says: 0.025 IU and 2.4 µg are not nothing.
  static func rounded(_ value: Double, digits: Int) -> Double {
    let small = value.magnitude < 1 && value != 0 ? 2 - Int(max(-15, log10(value.magnitude).rounded(.down))) : 0
    return rounded(value, places: max(digits, small))
  }

  /// Returns a value rounded to exactly `places` decimals.
  static func rounded(_ value: Double, places: Int) -> Double {
    let scale = pow(10, Double(places))
    return value.magnitude < 1e12 ? (value * scale).rounded() / scale : value
  }
}

/// The format of durations for people.
enum DurationText {
  /// Returns hours and minutes: `7:05`.
  static func hours(_ seconds: Double) -> String {
    let minutes = Int(min(max(seconds, 0), 1e12) / 60)
    return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
  }
}

/// The message about samples that are left out because of their time (`PlausibleTime`).
enum ImplausibleTime {
  static func say(_ count: Int) {
    guard count > 0 else { return }
    Console.say(
      "Left out: \(HumanFormat.count(count, "sample")) from before 1900 or from more than a year ahead; --from and --to "
        + "reach them.")
  }
}
