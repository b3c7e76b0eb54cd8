import ArgumentParser
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete samples of some types; the deletion travels to the machines that pull from here.",
    discussion: """
      A deleted sample stays deleted: no later import or pull brings it back. `hpeer undelete` does, from a file that \
      has it.

      Examples:
        hpeer delete --types stepCount --from 2024-06-01 --to 2024-06-30
        hpeer delete --types heartRate --from 2024-06-15T10:00 --to 2024-06-15T11:00 --yes
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: PeriodOptions
  @Flag(help: "Do not ask.")
  var yes = false

  func validate() throws {
    guard !selection.types.isEmpty, period.start != nil, period.end != nil else {
      throw ValidationError("Say what to delete: --types, --from and --to.")
    }
    try period.requireNoDoubt()
  }

  func run() async throws {
    let store = try common.homeDirectory.openStore()
    let range = period.range
    var counts: [(type: SampleType, samples: Int)] = []
    for type in selection.types {
      let count = try await store.count(of: type, in: range)
      if count > 0 { counts.append((type, count)) }
    }
    guard !counts.isEmpty else {
      Console.say("No sample of \(selection.types.map(\.shortName).joined(separator: ", ")) in this range.")
      return
    }
    if !yes {
      let samples = HumanFormat.count(counts.reduce(0) { $0 + $1.samples }, "sample")
      let types = counts.map(\.type.shortName).joined(separator: ", ")
      let question =
        "Delete \(samples) of \(types), from \(period.zone.text(range.lowerBound)) until before "
        + "\(period.zone.text(range.upperBound)), here and on every machine that pulls from here?"
      guard try await Prompt.confirm(question) else {
        Console.say("Nothing was deleted.")
        return
      }
    }
    for (type, _) in counts {
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
}
