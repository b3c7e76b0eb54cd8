import ArgumentParser
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// The zone whose days a question is about, and in which times are printed.
struct QuestionZoneOptions: ParsableArguments {
  // Those west of Greenwich begin like options.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Whose days count, and in which zone times are read and printed: a zone (Europe/Berlin, +02:00), home (what "
        + "`hpeer zone` says), or travel (wherever samples say that they were recorded).", valueName: "zone"))
  var zone = QuestionZone.home
  @Flag(help: "The same as --zone UTC.")
  var utc = false

  func validate() throws {
    if utc, zone != .home { throw ValidationError("Give --zone or --utc, not both.") }
  }
}

/// What `--zone` names.
enum QuestionZone: ExpressibleByArgument, Hashable {
  case home
  case travel
  case named(TimeZone)

  init?(argument: String) {
    switch argument {
    case "home": self = .home
    case "travel": self = .travel
    default:
      guard let zone = ZoneArgument(argument: argument) else { return nil }
      self = .named(zone.timeZone)
    }
  }

  var defaultValueDescription: String { "home" }
}

/// The zone of the person of a record.
struct HomeZone {
  let timeZone: TimeZone
  let rules: ZoneRules
  /// Whether the person has said so; else it is that of this machine.
  let isChosen: Bool

  /// - Throws: ``ZoneError`` where the zone is no longer known to this system.
  init(_ settings: AnalysisSettings) throws {
    let chosen = settings.homeZone.flatMap(TimeZone.init(identifier:))
    timeZone = chosen ?? .current
    rules = try ZoneRules(homeOf: settings)
    isChosen = chosen != nil
  }
}
