import ArgumentParser
import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import Terminal

struct Undelete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undelete",
    abstract: "Bring back deleted samples, from a file that has them.",
    discussion: """
      A store keeps nothing of what was deleted, so the samples come from FILE: anything that `hpeer import` reads. Only \
      what is deleted here comes back, under new identities, here and on every machine that pulls from here; two machines \
      that bring the same back have it once. Nothing else of the file is imported.

      Examples:
        hpeer undelete --types stepCount --from 2024-06-01 --to 2024-06-30 export.zip
        hpeer undelete --source Watch --dry-run --json backup.json
        hpeer undelete --source "An app of long ago" export.zip
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: RecordPeriodOptions
  @OptionGroup var sources: SourceOptions
  @OptionGroup var asking: YesOption
  @Flag(help: "Say what would come back, and change nothing.")
  var dryRun = false
  @Argument(help: "export.zip, export.xml, the unzipped folder, or a JSON or CSV file.", completion: .file())
  var file: String

  func validate() throws {
    let isBounded = !selection.types.isEmpty && period.dates.hasStart && period.dates.hasEnd
    guard isBounded || sources.set != nil else {
      throw ValidationError("Say what to bring back: --types together with --from and --to, or --source.")
    }
    if file == "-" { throw ValidationError("undelete reads the file twice, so it takes no standard input.") }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStore()
    let period = try await period.period(in: store)
    try period.requireNoDoubt()
    let operation = RestoreOperation(
      period.filter(selection.set, try await sources.resolved(in: store)),
      from: try await ImportFile.recognised(at: file),
      named: URL(fileURLWithPath: file).lastPathComponent, progress: ProgressBars())
    let plan = try await interruptible("nothing was changed.") { try await operation.plan(in: store) }
    let found = plan.entries
    var report = Report(found, operation.filter, isDryRun: dryRun)
    guard !found.isEmpty else {
      let what = ScopeText.of(operation.filter, in: period.zone)
      Console.say("Nothing of this is in the file and deleted here: \(what).")
      return try finish(report)
    }
    let what = found.map { description($0, period) }.joined(separator: ", ")
    if dryRun {
      Console.say("Would bring back \(what); nothing was changed.")
      return try finish(report)
    }
    if asking.yes { Console.say("Bringing back \(what).") }
    guard try await asking.confirm("Bring back \(what), here and on every machine that pulls from here?") else {
      Console.say("Nothing was brought back.")
      return try finish(report)
    }
    let restored = try await interruptible("what has come back stays, and the same command brings the rest.") {
      try await operation.run(plan, in: store)
    }
    report.add(restored)
    try finish(report)
  }

  private func description(_ found: RestoreOperation.Plan.Entry, _ period: Period) -> String {
    let (first, last) = (period.text(found.extent.lowerBound), period.text(found.extent.upperBound))
    return
      "\(HumanFormat.count(found.samples, "sample")) of \(PlainText.escaped(found.type.shortName, limit: 100)) (\(first) to \(last))"
  }

  private func finish(_ report: Report) throws {
    if output.json { return try Console.print(json: report) }
    for entry in report.types where entry.restored > 0 {
      try Console.print(
        "\(HumanFormat.count(entry.restored, "sample")) of \(PlainText.escaped(entry.name, limit: 100)) brought back")
    }
  }

  /// The output of `--json`.
  private struct Report: Encodable {
    struct Entry: Encodable {
      var type: String
      var name: String
      /// The number of samples that are in the file, and deleted here.
      var found: Int
      var restored = 0
    }

    /// The range that was asked for; its end is not included.
    var from: Timestamp?
    var to: Timestamp?
    var sources: [String]?
    var dryRun: Bool
    /// The types of which something was found.
    var types: [Entry]

    init(_ found: [RestoreOperation.Plan.Entry], _ filter: SampleFilter, isDryRun: Bool) {
      (from, to, sources, dryRun) = (filter.earliest, filter.end, filter.sources?.sorted(), isDryRun)
      types = found.map { Entry(type: $0.type.rawValue, name: $0.type.shortName, found: $0.samples) }
    }

    mutating func add(_ restored: [SampleType: Int]) {
      for index in types.indices { types[index].restored = restored[SampleType(types[index].type)] ?? 0 }
    }
  }
}
