import ArgumentParser
import HealthModel
import HealthStore
import Terminal

struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete samples of one type; the deletion travels to the machines that pull from here.",
    discussion: """
      A deleted sample stays deleted: no later import or pull brings it back.

      Examples:
        hpeer delete --type stepCount --from 2024-06-01 --to 2024-06-30
        hpeer delete --type heartRate --from 2024-06-15T10:00:00Z --to 2024-06-15T11:00:00Z --yes
      """)

  @OptionGroup var common: CommonOptions
  @Option(help: "A short name (stepCount) or a HealthKit identifier.")
  var type: String
  @Option(help: "What starts on or after this date (2024-06-15, local) or instant (ISO 8601).")
  var from: DateArgument
  @Option(help: "What starts on or before this date, or before this instant.")
  var to: DateArgument
  @Flag(help: "Do not ask.")
  var yes = false

  func validate() throws {
    guard from.start < to.end else { throw ValidationError("--from must be before --to.") }
  }

  func run() async throws {
    let type = try SampleType.named(type)
    let store = try common.homeDirectory.openStore()
    let range = from.start..<to.end
    let count = try await store.count(of: type, in: range)
    guard count > 0 else {
      Console.say("No sample of \(type.shortName) in this range.")
      return
    }
    if !yes {
      let question =
        "Delete \(HumanFormat.count(count, "sample")) of \(type.shortName), here and on every machine that pulls from here?"
      guard try await Prompt.confirm(question) else {
        Console.say("Nothing was deleted.")
        return
      }
    }
    let deleted = try await store.delete(type, in: range) { count in
      AuditEvent(
        .deleted,
        [
          "types": type.shortName, "from": range.lowerBound.iso8601, "to": range.upperBound.iso8601,
          "count": String(count),
        ])
    }
    try Console.print("\(HumanFormat.count(deleted, "sample")) of \(type.shortName) deleted")
  }
}
