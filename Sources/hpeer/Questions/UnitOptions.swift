import ArgumentParser
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import Terminal

/// The option `--units`.
struct UnitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "metric, imperial, or a list of units: lb,mi. For one type: bodyMass=st.",
      valueName: "units"))
  var units: UnitChoice?

  var choice: UnitChoice { units ?? UnitChoice() }
}

/// The units that a person wants numbers in.
struct UnitChoice: ExpressibleByArgument, Hashable {
  private var byType: [SampleType: String] = [:]
  private var general: [String] = []
  /// The choice that applies after this one, before everyday units; `nil` if types keep their own units.
  private var usual: [UnitChoice]?
  /// Whether `metric` was chosen, which overrides what is usual.
  private var isMetric = false

  /// Creates a choice that leaves every type in its own unit.
  init() {}

  /// The units of `imperial`, such as miles, pounds, feet and degrees Fahrenheit.
  private static let imperial = ["mi", "lb", "degF", "mi/hr", "fl_oz_us", "ft", "in"]
  private static let limit = 20

  init?(argument: String) {
    for word in argument.parts(separatedBy: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
      switch word {
      case "metric": isMetric = true
      case "imperial": general += Self.imperial
      default:
        let parts = word.parts(separatedBy: "=")
        if parts.count == 2 {
          guard let type = SampleTypeCatalogue.healthKit.type(named: String(parts[0])),
            let own = SampleTypeCatalogue.healthKit[type]?.canonicalUnit
          else { return nil }
          let unit = MolarUnit.long(String(parts[1]), of: type)
          guard UnitConversion.convert(1, from: own, to: unit) != nil else { return nil }
          byType[type] = unit
        } else {
          guard Self.isUnit(word) else { return nil }
          general.append(word)
        }
      }
    }
    if byType.count + general.count > Self.limit { return nil }
  }

  /// Returns whether a text is a unit that some type can be in. Pure numbers are not: they would make percentages of
  /// steps.
  private static func isUnit(_ text: String) -> Bool {
    UnitConversion.convert(1, from: text, to: "count") == nil
      && SampleTypeCatalogue.healthKit.entries.contains { entry in
        entry.canonicalUnit.map { UnitConversion.convert(1, from: $0, to: MolarUnit.long(text, of: entry.type)) != nil }
          ?? false
      }
  }

  /// Returns the choice for tables and charts. Types for which nothing was chosen are in the usual units, or in
  /// everyday ones. Output for other programs does not change.
  ///
  /// - Parameter usual: The choice for all that this machine shows.
  func forPeople(usual: UnitChoice) -> UnitChoice {
    var choice = self
    choice.usual = isMetric ? [] : [usual]
    return choice
  }

  /// Returns the unit for a number of a type that comes in another unit, as HealthKit writes it; see
  /// ``MolarUnit/short(_:)``.
  func unit(for type: SampleType, in own: String) -> String {
    func converts(_ unit: String) -> Bool { UnitConversion.convert(1, from: own, to: unit) != nil }
    for choice in [self] + (usual ?? []) {
      if let unit = choice.byType[type], converts(unit) { return unit }
      let general = choice.general.lazy.filter { Self.fits($0, type) }.map { MolarUnit.long($0, of: type) }
      if let unit = general.first(where: converts) { return unit }
    }
    return usual == nil ? own : EverydayUnit.of(type).flatMap { converts($0) ? $0 : nil } ?? own
  }

  /// Returns whether people use a unit for what a type measures: heights are not in miles, nor proteins in pounds.
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

  /// Returns a quantity in the unit for its type.
  ///
  /// - Parameter isSaidSo: Whether it stays in its own unit if none was chosen.
  func quantity(_ quantity: Quantity, of type: SampleType, isSaidSo: Bool = false) -> Quantity {
    var choice = self
    if isSaidSo { choice.usual = nil }
    let own = MolarUnit.long(quantity.unit, of: type)
    let unit = choice.unit(for: type, in: own)
    guard unit != own, let value = UnitConversion.convert(quantity.value, from: own, to: unit) else { return quantity }
    // What was converted has more digits than were measured.
    return Quantity(NumberText.rounded(value, digits: 2), MolarUnit.short(unit))
  }

  /// Returns the numbers of a type in the unit for it.
  func statistics(_ statistics: Statistics) -> Statistics {
    guard let own = statistics.unit else { return statistics }
    var converted = statistics.converted(to: unit(for: statistics.type, in: own)) ?? statistics
    converted.unit = converted.unit.map(MolarUnit.short)
    return converted
  }
}

/// The units of tables for people if a command names none: those chosen with `hpeer units`, else those of the newest
/// export's region, else those of this machine's locale.
struct UsualUnits {
  enum Origin: String, Encodable {
    case chosen, export, machine
  }

  let choice: UnitChoice
  /// The name: `metric`, `imperial`, or the units that were chosen.
  let name: String
  let origin: Origin

  /// Creates the usual units from the settings of a store.
  ///
  /// - Parameter environment: The environment of the process.
  init(_ settings: AnalysisSettings, _ environment: [String: String] = ProcessInfo.processInfo.environment) {
    if let units = settings.units, let choice = UnitChoice(argument: units) {
      (self.choice, name, origin) = (choice, units, .chosen)
      return
    }
    let region = settings.exportLocale.flatMap(Self.region)
    origin = region == nil ? .machine : .export
    let isImperial = (region ?? Self.machineRegion(environment)).map(Self.imperialRegions.contains) ?? false
    name = isImperial ? "imperial" : "metric"
    choice = UnitChoice(argument: name) ?? UnitChoice()
  }

  /// The regions that measure in miles and pounds according to the Unicode CLDR (`measurementSystem`, US).
  private static let imperialRegions: Set<String> = ["US", "LR", "MM"]

  /// Returns the region of the locale category for units (`locale(7)`).
  private static func machineRegion(_ environment: [String: String]) -> String? {
    let names = ["LC_ALL", "LC_MEASUREMENT", "LANG"]
    return names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }.flatMap(region)
  }

  /// Returns the region of a locale: `US` of `en_US`, `en-US`, `es-419_US`, `en_US.UTF-8`; `DE` of `en_US@rg=dezzzz`,
  /// which a phone with another region says.
  private static func region(of locale: String) -> String? {
    let parts = locale.split(separator: "@", maxSplits: 1)
    if parts.count == 2,
      let override = parts[1].split(whereSeparator: { ";&,".contains($0) }).first(where: { $0.hasPrefix("rg=") })
    {
      return String(override.dropFirst(3).prefix(2)).uppercased()
    }
    let name = (parts.first ?? "").prefix { $0 != "." }
    return name.split(whereSeparator: { "_-".contains($0) }).dropFirst()
      .last { $0.utf8.count == 2 && $0.allSatisfy(\.isLetter) }.map { $0.uppercased() }
  }
}
