import Destinations
import HealthAnalysis
import HealthModel

/// A line that a value of the record may cross. What has crossed it counts again after it has come back by some distance.
public struct Threshold: Hashable, Sendable {
  static let range: ClosedRange<Double> = -1e12...1e12

  /// Which way counts.
  public enum Side: String, Hashable, Sendable {
    /// Over the line.
    case above
    /// Under it.
    case below
  }

  /// Where a value is, as far as it matters.
  enum Position: String, Sendable {
    /// On this side: the next crossing counts.
    case ready
    /// Over there, and not yet back.
    case crossed
  }

  /// Of the values.
  public let type: SampleType
  /// Where a value has crossed to.
  public let side: Side
  /// In ``unit``.
  public let line: Double
  /// Likewise; not negative.
  public let hysteresis: Double
  /// HealthKit's way to write it; `nil` where the type has none.
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

  /// A value in ``unit``; `nil` where it has no number.
  func number(of value: CurrentValue) -> Double? {
    guard let number = value.number else { return nil }
    guard let unit, let own = value.unit, own != unit else { return number }
    return UnitConversion.convert(number, from: own, to: unit)
  }

  /// Where a value is, when it was there before.
  func position(of number: Double, before: Position?) -> Position {
    let (isOver, isBack) =
      side == .above
      ? (number > line, number <= line - hysteresis) : (number < line, number >= line + hysteresis)
    switch before {
    // Within the distance, it stays where it was.
    case .crossed: return isBack && !isOver ? .ready : .crossed
    case .ready, nil: return isOver ? .crossed : .ready
    }
  }
}

extension Threshold: CustomStringConvertible {
  /// `restingHeartRate above 65 count/min`.
  public var description: String {
    let number = line == line.rounded() && abs(line) < 1e9 ? String(Int(line)) : String(line)
    return "\(type.shortName) \(side.rawValue) \(number)\(unit.map { " \($0)" } ?? "")"
  }
}
