import ArgumentParser
import HealthModel
import HealthOperations
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
    let operation = DeleteOperation(period.filter(selection))
    let plan = try await operation.plan(in: store)
    guard !plan.entries.isEmpty else {
      Console.say("No sample of \(selection.types.map(\.shortName).joined(separator: ", ")) in this range.")
      return
    }
    if !yes {
      guard try await Prompt.confirm(question(plan)) else {
        Console.say("Nothing was deleted.")
        return
      }
    }
    try await operation.run(plan, in: store) { type, count in
      try Console.print("\(HumanFormat.count(count, "sample")) of \(type.shortName) deleted")
    }
  }

  private func question(_ plan: DeleteOperation.Plan) -> String {
    let samples = HumanFormat.count(plan.samples, "sample")
    let types = plan.entries.map(\.type.shortName).joined(separator: ", ")
    return "Delete \(samples) of \(types), from \(period.zone.text(period.range.lowerBound)) until before "
      + "\(period.zone.text(period.range.upperBound)), here and on every machine that pulls from here?"
  }
}
