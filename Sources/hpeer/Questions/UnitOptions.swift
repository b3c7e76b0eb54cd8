import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

/// `--units`.
struct UnitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "metric, imperial, or units for what can be said in them: lb,mi. A unit of one type: bodyMass=st.",
      valueName: "units"))
  var units: UnitChoice?

  var choice: UnitChoice { units ?? UnitChoice() }
}

/// The units in which somebody wants to read numbers.
struct UnitChoice: ExpressibleByArgument, Hashable {
  private var byType: [SampleType: String] = [:]
  private var general: [String] = []

  /// Every type in its own.
  init() {}

  /// Miles, pounds, feet, degrees Fahrenheit.
  private static let imperial = ["mi", "lb", "degF", "mi/hr", "fl_oz_us", "ft", "in"]
  private static let limit = 20

  init?(argument: String) {
    for word in argument.parts(separatedBy: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
      switch word {
      case "metric": general += []
      case "imperial": general += Self.imperial
      default:
        let parts = word.parts(separatedBy: "=")
        if parts.count == 2 {
          guard let type = SampleTypeCatalogue.healthKit.type(named: String(parts[0])),
            let own = SampleTypeCatalogue.healthKit[type]?.canonicalUnit,
            UnitConversion.convert(1, from: own, to: String(parts[1])) != nil
          else { return nil }
          byType[type] = String(parts[1])
        } else {
          guard Self.isUnit(word) else { return nil }
          general.append(word)
        }
      }
    }
    if byType.count + general.count > Self.limit { return nil }
  }

  /// Pure numbers are no choice: they would make percentages of steps.
  private static func isUnit(_ text: String) -> Bool {
    UnitConversion.convert(1, from: text, to: "count") == nil
      && SampleTypeCatalogue.healthKit.entries.contains { entry in
        entry.canonicalUnit.map { UnitConversion.convert(1, from: $0, to: text) != nil } ?? false
      }
  }

  /// The unit for a number of a type that comes in another.
  func unit(for type: SampleType, in own: String) -> String {
    if let unit = byType[type], UnitConversion.convert(1, from: own, to: unit) != nil { return unit }
    return general.first { Self.fits($0, type) && UnitConversion.convert(1, from: own, to: $0) != nil } ?? own
  }

  /// Whether people use a unit for what a type measures: heights are no miles, and proteins are no pounds.
  private static func fits(_ unit: String, _ type: SampleType) -> Bool {
    let name = type.rawValue
    return switch unit {
    case "mi", "km", "yd": name.contains("Distance")
    case "lb", "st", "kg": name.contains("Body")
    case "ft": name.contains("Distance") || name.hasSuffix("TypeIdentifierHeight")
    default: !unit.hasPrefix("fl_oz") || name.contains("Dietary")
    }
  }

  /// The unit for a length of the ground: `km`, unless another was asked for.
  var distance: String { unit(for: SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning"), in: "km") }

  /// The unit for an energy: `kcal`, unless another was asked for.
  var energy: String { unit(for: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), in: "kcal") }

  /// The unit for a height above the sea: metres, or feet where distances are in miles.
  var elevation: String { ["mi", "ft", "yd"].contains(distance) ? "ft" : "m" }

  /// A quantity in the unit for its type.
  func quantity(_ quantity: Quantity, of type: SampleType) -> Quantity {
    let unit = unit(for: type, in: quantity.unit)
    guard unit != quantity.unit, let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit)
    else {
      return quantity
    }
    // What was converted has more digits than were measured.
    return Quantity(NumberText.rounded(value, digits: 2), unit)
  }

  /// The numbers of a type in the unit for it.
  func statistics(_ statistics: Statistics) -> Statistics {
    guard let own = statistics.unit else { return statistics }
    return statistics.converted(to: unit(for: statistics.type, in: own)) ?? statistics
  }
}
