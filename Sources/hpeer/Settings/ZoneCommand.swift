import ArgumentParser
import Foundation
import HealthAnalysis
import HealthStore
import Terminal

struct ZoneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zone",
    abstract: "Print or set your home time zone, which decides when days begin.",
    discussion: """
      Days, nights and hours follow this zone, wherever this machine is. It is kept with the record, on this machine only. \
      By default it is this machine's zone.

      Examples:
        hpeer zone
        hpeer zone Europe/Berlin
        hpeer zone --machine
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The new home zone, such as Europe/Berlin.")
  var name: String?
  @Flag(help: "From now on the zone of this machine counts.")
  var machine = false
  @OptionGroup var output: JSONOption

  private struct Answer: Encodable {
    var home: String
    var chosen: Bool
  }

  func validate() throws {
    if name != nil, machine { throw ValidationError("Give a zone or --machine, not both.") }
    if let name { _ = try Self.zone(named: name) }
  }

  /// Returns the name as the system has it.
  private static func zone(named name: String) throws -> String {
    guard let zone = ZoneArgument(argument: name)?.timeZone.identifier, (try? ZoneRules(named: zone)) != nil else {
      throw ValidationError(
        "There is no time zone called \(PlainText.escaped(name, limit: 60)). Use a name such as Europe/Berlin; "
          + "`timedatectl list-timezones` lists them.")
    }
    return zone
  }

  func run() async throws {
    if name != nil || machine {
      let store = try common.homeDirectory.createStore()
      try await store.settings.setHomeZone(try name.map(Self.zone))
    }
    let settings = try await common.homeDirectory.openStoreForReadingIfThere()?.settings.current() ?? AnalysisSettings()
    let home = try HomeZone(settings)
    let answer = Answer(home: home.rules.name, chosen: home.isChosen)
    if output.json { return try Console.print(json: answer) }
    try Console.print(answer.home + (answer.chosen ? "" : " (this machine's)"))
  }
}
