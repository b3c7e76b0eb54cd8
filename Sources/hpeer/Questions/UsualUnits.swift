import Foundation
import HealthStore

/// The units of tables for people where a command names none: those that were chosen by `hpeer units`, else those of the region of the
/// newest export, else those of this machine's locale.
struct UsualUnits {
  enum Origin: String, Encodable {
    case chosen, export, machine
  }

  let choice: UnitChoice
  /// `metric`, `imperial`, or what was chosen.
  let name: String
  let origin: Origin

  /// - Parameter environment: of the process.
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

  /// Those of which the Unicode CLDR says that they measure in miles and pounds (`measurementSystem`, US).
  private static let imperialRegions: Set<String> = ["US", "LR", "MM"]

  /// The region of the category that says units (`locale(7)`).
  private static func machineRegion(_ environment: [String: String]) -> String? {
    let names = ["LC_ALL", "LC_MEASUREMENT", "LANG"]
    return names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }.flatMap(region)
  }

  /// `US` of `en_US`, `en-US`, `es-419_US`, `en_US.UTF-8`; `DE` of `en_US@rg=dezzzz`, which a phone with another region says.
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
