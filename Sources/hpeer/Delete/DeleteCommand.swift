import ArgumentParser
import HealthModel
import HealthOperations
import Terminal

struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete samples of some types, here and on the machines that pull from here.",
    discussion: """
      A deleted sample stays deleted: no later import or pull brings it back. `hpeer undelete` does, from a file that \
      has it.

      Examples:
        hpeer delete --types stepCount --from 2024-06-01 --to 2024-06-30
        hpeer delete --types heartRate --from 2024-06-15T10:00 --to 2024-06-15 --yes
        hpeer delete --source "An app of long ago"
        hpeer delete --types bodyMass --dry-run
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: RecordPeriodOptions
  @OptionGroup var sources: SourceOptions
  @Flag(help: "Say how many samples that are, and delete none.")
  var dryRun = false
  @OptionGroup var asking: YesOption

  func validate() throws {
    guard !selection.types.isEmpty || sources.isGiven else {
      throw ValidationError("Say what to delete: --types, --source or both, and --from and --to for a part of it.")
    }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStore()
    let names = try await sources.known(in: store)
    let period = try await period.period(in: store)
    try period.requireNoDoubt()
    let operation = DeleteOperation(period.filter(selection.set, names))
    let plan = try await operation.plan(in: store)
    guard !plan.entries.isEmpty else {
      Console.say("There is no sample of \(ScopeText.of(operation.filter, in: period.zone)).")
      return
    }
    if dryRun {
      for entry in plan.entries {
        try Console.print(
          "\(HumanFormat.count(entry.samples, "sample")) of \(PlainText.escaped(entry.type.shortName, limit: 100)) would be deleted"
        )
      }
      return
    }
    guard try await asking.confirm(question(plan, period, names)) else {
      Console.say("Nothing was deleted.")
      return
    }
    try await operation.run(plan, in: store) { type, count in
      try Console.print(
        "\(HumanFormat.count(count, "sample")) of \(PlainText.escaped(type.shortName, limit: 100)) deleted")
    }
  }

  private func question(_ plan: DeleteOperation.Plan, _ period: Period, _ sources: Set<String>?) -> String {
    let samples = HumanFormat.count(plan.samples, "sample")
    let types = plan.entries.map { PlainText.escaped($0.type.shortName, limit: 100) }.joined(separator: ", ")
    let start = period.start.map { ", from \(period.text($0))" } ?? ""
    let end = period.end.map { "\(start.isEmpty ? "," : "") until before \(period.text($0))" } ?? ""
    let names = ScopeText.sources(of: SampleFilter(sources: sources))
    return
      "Delete \(samples) of \(types)\(names.isEmpty ? "" : "," + names)\(start)\(end), here and on every machine that pulls from here?"
  }
}
