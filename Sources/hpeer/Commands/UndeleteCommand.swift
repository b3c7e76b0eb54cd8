import ArgumentParser
import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem
import Terminal

struct Undelete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undelete",
    abstract: "Bring back deleted samples of some types, from a file that has them.",
    discussion: """
      A store keeps nothing of what was deleted, so the samples come from FILE: anything that `hpeer import` reads. Only \
      what is deleted here comes back, under new identities, here and on every machine that pulls from here; two machines \
      that bring the same back have it once. Nothing else of the file is imported.

      Examples:
        hpeer undelete --types stepCount --from 2024-06-01 --to 2024-06-30 export.zip
        hpeer undelete --types heartRate --from 2024-06-15 --to 2024-06-15 --dry-run --json backup.json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: PeriodOptions
  @Flag(help: "Do not ask.")
  var yes = false
  @Flag(help: "Say what would come back, and change nothing.")
  var dryRun = false
  @Argument(help: "export.zip, export.xml, the unzipped folder, or a JSON or CSV file.", completion: .file())
  var file: String

  func validate() throws {
    guard !selection.types.isEmpty, period.start != nil, period.end != nil else {
      throw ValidationError("Say what to bring back: --types, --from and --to.")
    }
    try period.requireNoDoubt()
    if file == "-" { throw ValidationError("undelete reads the file twice, so it takes no standard input.") }
  }

  func run() async throws {
    let (types, range, path) = (selection.types, period.range, file)
    let source = try await onThread { _ in try ImportFile.recognise(path) }
    let store = try common.homeDirectory.openStore()
    let (samples, found) = try await interruptible("nothing was changed.") {
      let samples = try await FileSamples(source, for: store)
      let found = try await onThread { isCancelled in
        let restorers = types.map { SampleRestorer(store, type: $0, range: range) }
        try samples.forEach("looking", isCancelled: isCancelled) { changes, twins in
          for restorer in restorers { try restorer.survey(changes, twins: twins) }
        }
        return zip(types, restorers).compactMap { type, restorer in
          restorer.extent.map { Found(type: type, samples: restorer.found, extent: $0) }
        }
      }
      return (samples, found)
    }
    var report = Report(found, in: range, isDryRun: dryRun)
    guard !found.isEmpty else {
      let names = types.map(\.shortName).joined(separator: ", ")
      Console.say("No sample of \(names) in this range is in the file and deleted here.")
      return try finish(report)
    }
    let what = found.map(description).joined(separator: ", ")
    if dryRun {
      Console.say("Would bring back \(what); nothing was changed.")
      return try finish(report)
    }
    if yes {
      Console.say("Bringing back \(what).")
    } else {
      guard try await Prompt.confirm("Bring back \(what), here and on every machine that pulls from here?") else {
        Console.say("Nothing was brought back.")
        return try finish(report)
      }
    }
    let restored = try await interruptible("what has come back stays, and the same command brings the rest.") {
      try await restore(samples, found.map(\.type), range, store)
    }
    report.add(restored)
    try finish(report)
  }

  private func description(_ found: Found) -> String {
    let (first, last) = (period.zone.text(found.extent.lowerBound), period.zone.text(found.extent.upperBound))
    return "\(HumanFormat.count(found.samples, "sample")) of \(found.type.shortName) (\(first) to \(last))"
  }

  private func restore(
    _ samples: FileSamples, _ types: [SampleType], _ range: Range<Timestamp>, _ store: HealthStore
  ) async throws -> [SampleType: Int] {
    let name = URL(fileURLWithPath: file).lastPathComponent
    return try await onThread { isCancelled in
      let restorers = types.map {
        (type: $0, restorer: SampleRestorer(store, type: $0, range: range, isExport: samples.isExport))
      }
      var restored: [SampleType: Int] = [:]
      try samples.forEach("restoring", isCancelled: isCancelled) { changes, twins in
        for (type, restorer) in restorers {
          restored[type, default: 0] += try restorer.restore(changes, twins: twins) { count in
            AuditEvent(
              .restored,
              [
                "types": type.shortName, "from": range.lowerBound.iso8601, "to": range.upperBound.iso8601, "file": name,
                "count": String(count),
              ])
          }
        }
      }
      return restored
    }
  }

  private func finish(_ report: Report) throws {
    if output.json { return try Console.print(json: report) }
    for entry in report.types where entry.restored > 0 {
      try Console.print("\(HumanFormat.count(entry.restored, "sample")) of \(entry.name) brought back")
    }
  }

  /// What is in the file, and deleted here.
  private struct Found: Sendable {
    var type: SampleType
    var samples: Int
    /// From the first to the last start.
    var extent: ClosedRange<Timestamp>
  }

  /// What `--json` prints.
  private struct Report: Encodable {
    struct Entry: Encodable {
      var type: String
      var name: String
      /// In the file, and deleted here.
      var found: Int
      var restored = 0
    }

    /// The range that was asked for, its end excluded.
    var from: Timestamp
    var to: Timestamp
    var dryRun: Bool
    /// Without those of which nothing was found.
    var types: [Entry]

    init(_ found: [Found], in range: Range<Timestamp>, isDryRun: Bool) {
      (from, to, dryRun) = (range.lowerBound, range.upperBound, isDryRun)
      types = found.map { Entry(type: $0.type.rawValue, name: $0.type.shortName, found: $0.samples) }
    }

    mutating func add(_ restored: [SampleType: Int]) {
      for index in types.indices { types[index].restored = restored[SampleType(types[index].type)] ?? 0 }
    }
  }
}
