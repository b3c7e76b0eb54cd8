import ArgumentParser
import Destinations
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct DestinationTest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Find out whether a destination can be delivered to: writes a probe there and deletes it.",
    discussion: """
      Examples:
        hpeer destination test backup
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument

  func run() async throws {
    let home = common.homeDirectory
    let section = try destination.section(home)
    let store = try home.createStore()
    try await interruptible("nothing has changed.") {
      try await DeliverOperation(section, home: home, store: store).check()
    }
    Console.say("\(section.name) can be delivered to.")
  }
}

struct DestinationStatus: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the state of deliveries. Exits with 5 if one is failing.",
    discussion: """
      Examples:
        hpeer destination status
        hpeer destination status backup --json
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "Only this one.", completion: .destinations)
  var name: String?
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: ZoneOptions

  func run() async throws {
    let home = common.homeDirectory
    var reports = try await DestinationReport.all(
      try SettingsNotice.readable(home), try home.openStoreForReadingIfThere())
    if let name {
      reports = reports.filter { $0.name == name }
      if reports.isEmpty { _ = try DestinationArgument.section(name, home) }
    }
    if output.json {
      try Console.print(json: ["destinations": reports])
    } else {
      for report in reports { try print(report) }
    }
    if reports.contains(where: { $0.state == .failing }) { throw ExitCode(ExitStatus.temporary.rawValue) }
  }

  private func print(_ report: DestinationReport) throws {
    var phrases = ["\(report.name) (\(report.kind)): \(report.state.rawValue)"]
    if let since = report.failingSince {
      phrases.append(
        "since \(zone.seconds(since)), \(HumanFormat.count(report.failures ?? 1, "time")): "
          + PlainText.escaped(report.reason ?? "", limit: 500))
    }
    if let next = report.nextAttempt { phrases.append("tried again at \(zone.seconds(next))") }
    if let since = report.pausedSince { phrases.append("since \(zone.seconds(since))") }
    phrases.append("last delivery \(report.lastSuccess.map(zone.seconds) ?? "never")")
    if let behind = report.behind, behind > 0 {
      phrases.append("at most \(HumanFormat.count(behind, "change")) to go")
    }
    phrases.append("\(HumanFormat.count(report.delivered)) delivered")
    if report.refused > 0 { phrases.append("\(HumanFormat.count(report.refused)) refused") }
    if let noticed = report.lossNoticed, let loss = report.loss {
      phrases.append("on \(zone.seconds(noticed)) \(PlainText.escaped(loss, limit: 300))")
    }
    try Console.print(phrases: phrases)
  }
}

struct DestinationPause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Deliver nothing to a destination until it is resumed.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument

  func run() async throws {
    let section = try destination.section(common.homeDirectory)
    try await common.homeDirectory.createStore().deliveries.setPaused(true, section.consumer)
    Console.say("\(section.name) is paused; `hpeer destination resume \(section.name)` lets it go on where it stopped.")
  }
}

struct DestinationResume: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Let a paused destination go on where it stopped.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument

  func run() async throws {
    let section = try destination.section(common.homeDirectory)
    try await common.homeDirectory.createStore().deliveries.setPaused(false, section.consumer)
    Console.say("\(section.name) goes on with the next delivery: \(nextDelivery).")
  }
}

struct DestinationResync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resync",
    abstract: "Have everything delivered again, or everything from a date on.",
    discussion: """
      For a destination that has lost data, or holds more than the record. `hpeer destination list` says whether data may \
      then be stored twice. Without --from, hpeer first deletes what it wrote to calendars, FHIR servers, Home Assistant and MQTT; files stay.

      Examples:
        hpeer destination resync backup
        hpeer destination resync backup --from 2024-01-01
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument
  @OptionGroup var beginning: FromOption
  @OptionGroup var zone: HomeZoneOptions

  func run() async throws {
    let section = try destination.section(common.homeDirectory)
    let store = try common.homeDirectory.createStore()
    let zone = try await zone.timeZone(in: store)
    let start = beginning.bound(in: zone, now: .now)?.start(in: zone, now: .now)
    try await RedeliveryRequests.request(section.consumer, from: start, in: store)
    let what = start == nil ? "everything" : "that"
    Console.say("\(section.name) gets \(what) again with the next delivery: \(nextDelivery).")
  }
}

/// The text that names what delivers next.
private let nextDelivery = "`hpeer run` where it runs, or `hpeer sync`"
