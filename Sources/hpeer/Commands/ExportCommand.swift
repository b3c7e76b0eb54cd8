import ArgumentParser
import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write samples to a file: JSON, CSV, or XML like Apple's.",
    discussion: """
      JSON and CSV hold all that the store does of a sample, and `hpeer import` reads them back; docs/formats.md says \
      how they look. CSV is RFC 4180 and changes no text: one that begins with = may be a formula to a spreadsheet. \
      apple-xml is an export.xml as the Health app writes it, for programs that read those; it holds no samples that \
      Apple's export has no element for, such as electrocardiograms, and nothing that Apple keeps in files beside it. \
      Deletions are in none of them.

      The file gets mode 0600 and appears when it is whole; interrupted, nothing is left of it.

      Examples:
        hpeer export --output health.json
        hpeer export --format csv --types stepCount,heartRate --from 2024-01-01 --output steps.csv
        hpeer export --format apple-xml --output export.xml --offset +02:00
        hpeer export --output - | xz > health.json.xz
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case json, csv
    case appleXML = "apple-xml"
  }

  @OptionGroup var common: CommonOptions
  @Option(help: "json, csv or apple-xml.")
  var format = Format.json
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: PeriodOptions
  @Option(help: "The file to write, or - for standard output (default).", completion: .file())
  var output = "-"
  @Flag(help: "Replace the file if there is one.")
  var force = false
  // Those west of Greenwich begin like options.
  @Option(
    parsing: .unconditional,
    help:
      "apple-xml: the offset from UTC of all dates, such as +02:00; default: that of --zone, or this machine's, now.")
  var offset: OffsetArgument?

  func validate() throws {
    if offset != nil, format != .appleXML { throw ValidationError("--offset is for --format apple-xml.") }
    if output.isEmpty { throw ValidationError("--output takes a file, or - for standard output.") }
  }

  func run() async throws {
    let isFile = output != "-"
    if !isFile, Console.capabilities.isTerminal(.output) {
      throw ValidationError("Name a file with --output, or send standard output somewhere: a terminal shows no export.")
    }
    if !isFile { try OutputWriter.standardOutput.requireOpen() }
    let started = ContinuousClock.now
    let store = try common.homeDirectory.openStoreForReading()
    let samples = StoredSampleReader(
      store: store, filter: SampleFilter(types: selection.set, earliest: period.start, end: period.end))
    let plan = try await samples.plan()
    let detail = detail()
    let bar = ProgressBar(label: "export", totalItems: plan.samples, capabilities: Console.capabilities)
    defer { bar.finish() }
    let (format, output, force, now) = (format, output, force, Timestamp.now)
    let offset = offset?.seconds ?? period.zone.timeZone.secondsFromGMT() / 60 * 60
    let summary = try await untilInterrupted {
      let file = isFile ? try OutputFile(path: output, replaces: force) : OutputFile()
      let exporting = Exporting(reader: samples, plan: plan, file: file, bar: bar)
      // First: an access that the log cannot hold does not happen, unless no log can be written there at all.
      if !store.isReadOnly { try await store.record(AuditEvent(.exportStarted, detail)) }
      switch format {
      case .json: return try await exporting.run(SampleJSONWriter(exported: now))
      case .csv: return try await exporting.run(SampleCSVWriter())
      case .appleXML: return try await exporting.run(AppleExportWriter(exportDate: now, offset: offset))
      }
    }
    bar.finish()
    guard let summary else { throw CommandFailure(.interrupted, "Interrupted; no file was written.") }
    if store.isReadOnly {
      Console.warn("this store cannot be written, so its audit log does not have this export.")
    } else {
      try await store.record(AuditEvent(.exported, detail.merging(["count": String(summary.written)]) { $1 }))
    }
    for (type, count) in summary.omitted.sorted(by: { $0.key < $1.key }) {
      Console.say(
        "Not exported: \(HumanFormat.count(count, "sample")) of \(PlainText.escaped(type.shortName, limit: 100)), for "
          + "which Apple's export has no element.")
    }
    if summary.partial > 0 {
      Console.say(
        "Not exported: files that Apple's export keeps beside the XML (points of routes, clinical resources, "
          + "attachments), which \(HumanFormat.count(summary.partial, "sample")) would have; --format json holds them.")
    }
    Console.say(
      "\(HumanFormat.count(summary.written, "sample")) exported"
        + (isFile ? " to \(PlainText.escaped(output))" : "")
        + ", in \(HumanFormat.duration(started.duration(to: .now)))")
  }

  /// What the audit log holds of it.
  private func detail() -> [String: String] {
    var detail = [
      "format": format.rawValue, "file": output == "-" ? "-" : URL(fileURLWithPath: output).lastPathComponent,
    ]
    if !selection.types.isEmpty { detail["types"] = selection.types.map(\.shortName).joined(separator: ",") }
    detail["from"] = period.start?.iso8601
    detail["to"] = period.end?.iso8601
    return detail
  }
}
