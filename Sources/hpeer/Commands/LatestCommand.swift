import ArgumentParser
import HealthModel
import Terminal

struct Latest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latest",
    abstract: "Print the newest sample of each type.",
    discussion: """
      Examples:
        hpeer latest heartRate bodyMass bloodPressure
        hpeer latest bodyMass --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeArguments
  @OptionGroup var sources: SourceOptions
  @OptionGroup var zone: ZoneOptions
  @Flag(help: "Print each sample as a JSON object on a line of its own.")
  var json = false

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    try await sources.requireKnown(in: store)
    var table = Table(columns: [.init("TYPE"), .init("VALUE"), .init("WHEN", isWhole: true), .init("SOURCE")])
    for type in try selection.types {
      guard let sample = try await store.samples.page(of: type, from: sources.set, limit: 1).first else {
        Console.say("No sample of \(PlainText.escaped(type.shortName, limit: 100)).")
        continue
      }
      if json {
        try Console.print(json: sample)
        continue
      }
      var when = zone.seconds(sample.start)
      // What is true of the person has no time.
      if case .characteristic = sample.payload { when = "-" }
      table.append([
        .init(type.shortName), .init(SampleText.of(sample, members: try await store.members(of: sample))), .init(when),
        .init(sample.source.name),
      ])
    }
    if !table.isEmpty { try Console.print(table) }
  }
}
