import Destinations
import HealthAnalysis
import HealthModel

/// A threshold that a value of the record may cross. After a crossing, the value must come back by the hysteresis
/// before the next crossing counts.
public struct Threshold: Hashable, Sendable {
  static let range: ClosedRange<Double> = -1e12...1e12

  /// The direction of a crossing.
  public enum Side: String, Hashable, Sendable {
    /// The value rises above the threshold.
    case above
    /// The value falls below the threshold.
    case below
  }

  /// The state of a value relative to the threshold.
  enum Position: String, Sendable {
    /// The value has not crossed; the next crossing counts.
    case ready
    /// The value has crossed and not come back yet.
    case crossed
  }

  /// The sample type of the value.
  public let type: SampleType
  /// The direction of a crossing that counts.
  public let side: Side
  /// The threshold, in ``unit``.
  public let line: Double
  /// The distance that the value must come back, in ``unit``; not negative.
  public let hysteresis: Double
  /// The unit in HealthKit's notation; `nil` if the type has none.
  public let unit: String?

  init(_ settings: DestinationSettings) throws(SettingsError) {
    type = try SampleType.named(try settings.text("type"), in: "type")
    let entry = SampleTypeCatalogue.healthKit[type]
    let isSleep = type == SleepQuery.type
    guard entry?.canonicalUnit != nil || isSleep else {
      throw SettingsError("type", .invalid("has no number of which one could say that it is high or low"))
    }
    switch (settings.number("above"), settings.number("below")) {
    case (let line?, nil): (side, self.line) = (.above, line)
    case (nil, let line?): (side, self.line) = (.below, line)
    case (nil, nil): throw SettingsError("above", .missing("a number, or below with one."))
    case (_?, _?): throw SettingsError("below", .invalid("cannot be set beside above: make two automations of it"))
    }
    hysteresis = settings.number("hysteresis") ?? 0
    let canonical = isSleep ? "hr" : entry?.canonicalUnit
    unit = settings.optionalText("unit") ?? canonical
    if let unit, let canonical, UnitConversion.convert(1, from: canonical, to: unit) == nil {
      throw SettingsError("unit", .invalid("is no unit of \(type.shortName), which has \(canonical)"))
    }
  }

  /// Returns a value converted to ``unit``, or `nil` if it has no number.
  func number(of value: CurrentValue) -> Double? {
    guard let number = value.number else { return nil }
    guard let unit, let own = value.unit, own != unit else { return number }
    return UnitConversion.convert(number, from: own, to: unit)
  }

  /// Returns the position of a value, given its position before.
  func position(of number: Double, before: Position?) -> Position {
    let (isOver, isBack) =
      side == .above
      ? (number > line, number <= line - hysteresis) : (number < line, number >= line + hysteresis)
    switch before {
    // Within the hysteresis, the position does not change.
    case .crossed: return isBack && !isOver ? .ready : .crossed
    case .ready, nil: return isOver ? .crossed : .ready
    }
  }
}

extension Threshold: CustomStringConvertible {
  /// A short description: `restingHeartRate above 65 count/min`.
  public var description: String {
    let number = line == line.rounded() && abs(line) < 1e9 ? String(Int(line)) : String(line)
    return "\(type.shortName) \(side.rawValue) \(number)\(unit.map { " \($0)" } ?? "")"
  }
}
