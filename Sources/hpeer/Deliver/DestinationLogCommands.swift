import ArgumentParser
import Destinations
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct DestinationHistory: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Print what was delivered when, of the audit log, oldest first.",
    discussion: """
      Examples:
        hpeer destination history backup
        hpeer destination history backup --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: ZoneOptions

  func run() async throws {
    let home = common.homeDirectory
    let store = try home.openStoreForReading()
    let history = AuditHistory(zone: zone, isJSON: output.json)
    guard try await !history.print(store, { isAbout($0["destination"]) }) else { return }
    let section = try destination.section(home)
    if !output.json { Console.say("The audit log has nothing of \(section.name) yet.") }
  }

  /// Returns whether a consumer is the destination, even if that was of another kind or has been removed.
  private func isAbout(_ consumer: String?) -> Bool {
    guard let consumer else { return false }
    return consumer == destination.name
      || consumer.split(separator: ":").dropFirst().first.map(String.init) == destination.name
  }
}

struct DestinationRejected: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rejected",
    abstract: "Print the samples that a destination has permanently refused, and why.",
    discussion: """
      The samples themselves are in the store as before; `hpeer destination retry` delivers them once more.

      Examples:
        hpeer destination rejected backup
        hpeer destination rejected backup --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: ZoneOptions

  private struct Entry: Encodable {
    var type: SampleType
    var start: Timestamp
    var uuid: String
    var reason: String
  }

  func run() async throws {
    let home = common.homeDirectory
    let section = try destination.section(home)
    let refused = try await home.deadLetters(of: section.name).read()
    for refused in refused {
      let sample = refused.sample
      if output.json {
        try Console.print(
          json: Entry(type: sample.type, start: sample.start, uuid: sample.uuid.uuidString, reason: refused.reason))
      } else {
        try Console.print(
          "\(zone.text(sample.start))  \(PlainText.escaped(sample.type.shortName, limit: 80))  \(sample.uuid)  "
            + PlainText.escaped(refused.reason, limit: 300))
      }
    }
    if refused.isEmpty, !output.json { Console.say("\(section.name) has refused nothing.") }
  }
}

struct DestinationRetry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Deliver the samples that a destination has refused again.",
    discussion: """
      Examples:
        hpeer destination retry backup
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument

  func run() async throws {
    let home = common.homeDirectory
    let section = try destination.section(home)
    let store = try home.openStore()
    guard try await !home.deadLetters(of: section.name).read().isEmpty else {
      return Console.say("\(section.name) has refused nothing.")
    }
    let report = try await interruptible {
      try await DeliverOperation(section, home: home, store: store).retry()
    }
    Console.say(
      "\(section.name): \(HumanFormat.count(report.delivered, "change")) of those refused before delivered, "
        + "\(HumanFormat.count(report.refused)) refused again.")
  }
}
