import ArgumentParser
import HealthModel
import HealthStore
import Terminal

struct UnitsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "units",
    abstract: "Print or set the units of tables and charts.",
    discussion: """
      By default, hpeer uses the units of the newest export's region, then those of this machine's locale. Your choice is \
      kept with the record, on this machine only; --units of a command overrides it. JSON and CSV keep the units of the \
      record, unless you give --units.

      Examples:
        hpeer units
        hpeer units imperial
        hpeer units km,lb
        hpeer units --automatic
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "metric, imperial, or units such as km,lb or bodyMass=st.")
  var units: String?
  @Flag(help: "Clear your choice and use the default units.")
  var automatic = false
  @OptionGroup var output: JSONOption

  private struct Answer: Encodable {
    var units: String
    var origin: UsualUnits.Origin
  }

  func validate() throws {
    if units != nil, automatic { throw ValidationError("Give units or --automatic, not both.") }
    if let units, units.utf8.count > 400 || UnitChoice(argument: units) == nil {
      throw ValidationError(
        "\(PlainText.escaped(units, limit: 60)) is not metric, imperial, or units such as km,lb or bodyMass=st.")
    }
  }

  func run() async throws {
    if units != nil || automatic {
      try await common.homeDirectory.createStore().settings.setUnits(units)
    }
    let settings = try await common.homeDirectory.openStoreForReadingIfThere()?.settings.current() ?? AnalysisSettings()
    let usual = UsualUnits(settings)
    if output.json { return try Console.print(json: Answer(units: usual.name, origin: usual.origin)) }
    let origin =
      switch usual.origin {
      case .chosen: ""
      case .export: " (of the newest export's region)"
      case .machine: " (of this machine's locale)"
      }
    try Console.print(usual.name + origin)
  }
}
