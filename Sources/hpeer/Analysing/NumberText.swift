import Foundation
import HealthModel
import Terminal

/// How numbers of one unit are written for people.
struct NumberText {
  /// `nil` where nothing says it.
  var unit: String?
  var aggregation: SampleTypeCatalogue.Aggregation

  /// Percent as percent; counts of cumulative types are rounded down, as the Health app shows them.
  func number(_ value: Double) -> String {
    if unit == "%" { return "\(HumanFormat.grouped(Self.rounded(value * 100, digits: 1))) %" }
    guard aggregation == .cumulative, value.magnitude < 1e15, !["km", "mi"].contains(unit) else {
      return HumanFormat.grouped(Self.rounded(value, digits: 2))
    }
    // 289.99999999999994 is 290 steps.
    if unit == "count" { return HumanFormat.count(Int((value + value.magnitude * 1e-9).rounded(.down))) }
    return HumanFormat.grouped(Self.rounded(value, digits: 1))
  }

  /// The same with its unit: `6,700`, `72.4 kg`, `98 %`.
  func withUnit(_ value: Double) -> String {
    guard let unit, unit != "count", unit != "%" else { return number(value) }
    return "\(number(value)) \(Self.name(of: unit))"
  }

  /// A unit as people write it.
  static func name(of unit: String) -> String {
    let names = Console.capabilities.usesUTF8 ? ["degC": "°C", "degF": "°F"] : [:]
    return names[unit] ?? ["dBASPL": "dB", "dBHL": "dB"][unit] ?? PlainText.escaped(unit, limit: 40)
  }

  /// Less than 1 keeps three significant digits, whatever `digits` says: 0.025 IU and 2.4 µg are not nothing.
  static func rounded(_ value: Double, digits: Int) -> Double {
    let small = value.magnitude < 1 && value != 0 ? 2 - Int(max(-15, log10(value.magnitude).rounded(.down))) : 0
    return rounded(value, places: max(digits, small))
  }

  /// To so many places, and no more.
  static func rounded(_ value: Double, places: Int) -> Double {
    let scale = pow(10, Double(places))
    return value.magnitude < 1e12 ? (value * scale).rounded() / scale : value
  }
}

/// Stretches of time for people.
enum DurationText {
  /// `7:05` hours and minutes.
  static func hours(_ seconds: Double) -> String {
    let minutes = Int(min(max(seconds, 0), 1e12) / 60)
    return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
  }
}
