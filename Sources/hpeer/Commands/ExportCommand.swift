import ArgumentParser
import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import Terminal

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write samples to a file, in one of the formats that programs read.",
    discussion: """
      JSON, NDJSON and CSV hold all that the store does of a sample, and `hpeer import` reads them back; docs/formats.md \
      says how they look. NDJSON is the change feed, and so the whole record: it has deletions, too, and samples that are \
      not shown because they came by another road as well. CSV is RFC 4180 and changes no text: one that begins with = may be a formula to a spreadsheet. \
      apple-xml is an export.xml as the Health app writes it, for programs that read those; it holds no samples that \
      Apple's export has no element for, such as electrocardiograms, and nothing that Apple keeps in files beside it.

      hat-json-v1, hat-json-v2 and hat-csv are what the app HealthAppTransfer reads and writes; gpx has the routes of \
      workouts with the heart rate (--types workout leaves it out), ics the workouts for a calendar. What a format has \
      no place for is counted and named.

      fhir is a Bundle of FHIR R4 resources, fhir-ndjson the same a line each (Bulk Data): an Observation for each sample, \
      with codes of LOINC and SNOMED CT where there are any and units of UCUM. `hpeer import` reads both back. --fhir-map \
      names a table of other codes and units, --fhir-subject the patient on your server; docs/formats/fhir.md says how.

      The file gets mode 0600 and appears when it is whole; interrupted, nothing is left of it.

      Examples:
        hpeer export --output health.json
        hpeer export --format ndjson --output record.ndjson
        hpeer export --format csv --types stepCount,heartRate --from 2024-01-01 --output steps.csv
        hpeer export --format apple-xml --output export.xml --offset +02:00
        hpeer export --format gpx --from 2024-06-01 --output routes.gpx
        hpeer export --format ics --output workouts.ics
        hpeer export --format fhir-ndjson --types heartRate --fhir-subject Patient/123 --output heart.ndjson
        hpeer export --output - | xz > health.json.xz
      """)

  @OptionGroup var common: CommonOptions
  @Option(help: "What the file is.")
  var format = ExportFormat.json
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: PeriodOptions
  @OptionGroup var sources: SourceOptions
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
  @Flag(help: "hat-csv: put an apostrophe before a text that a spreadsheet would take for a formula.")
  var defuseFormulas = false
  @Option(help: "fhir, fhir-ndjson: a table with other codes, units or categories for some types.", completion: .file())
  var fhirMap: String?
  @Option(help: "fhir, fhir-ndjson: whose the samples are, such as Patient/123; default: a Patient in the file.")
  var fhirSubject: String?

  func validate() throws {
    if offset != nil, format != .appleXML { throw ValidationError("--offset is for --format apple-xml.") }
    if defuseFormulas, format != .transferCSV { throw ValidationError("--defuse-formulas is for --format hat-csv.") }
    if fhirMap != nil || fhirSubject != nil, ![.fhirBundle, .fhirLines].contains(format) {
      throw ValidationError("--fhir-map and --fhir-subject are for --format fhir and fhir-ndjson.")
    }
    if let fhirSubject, !FHIRWriter.isReference(fhirSubject) {
      throw ValidationError("--fhir-subject takes a reference, such as Patient/123.")
    }
    if let types = selection.set, let needed = format.needed, types.isDisjoint(with: needed) {
      throw ValidationError(
        "--format \(format.rawValue) is about workouts: --types must name \(needed.map(\.shortName).sorted().joined(separator: " or "))."
      )
    }
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
    try await sources.requireKnown(in: store)
    let operation = ExportOperation(
      format, to: isFile ? .file(path: output, replaces: force) : .stream(StandardOutput()),
      filter: period.filter(selection, sources),
      offset: offset?.seconds ?? period.zone.timeZone.secondsFromGMT() / 60 * 60, defusesFormulas: defuseFormulas,
      fhir: FHIROptions(subject: fhirSubject, map: try fhirMap.map(FHIRMap.standard.overridden(byFile:)) ?? .standard),
      progress: ProgressBars())
    let summary = try await interruptible("no file was written.") { try await operation.run(from: store) }
    if !summary.isAudited {
      Console.warn("this store cannot be written, so its audit log does not have this export.")
    }
    for (type, count) in summary.omitted.sorted(by: { $0.key < $1.key }) {
      Console.say(
        "Not exported: \(HumanFormat.count(count, "sample")) of \(PlainText.escaped(type.shortName, limit: 100)), for "
          + "which \(format.place).")
    }
    if summary.partial > 0 {
      Console.say(
        "Not exported: files that Apple's export keeps beside the XML (points of routes, clinical resources, "
          + "attachments), which \(HumanFormat.count(summary.partial, "sample")) would have; --format json holds them.")
    }
    Console.say(
      "\(HumanFormat.count(summary.written, "sample"))"
        + (summary.points > 0 ? " with \(HumanFormat.count(summary.points, "point"))" : "")
        + (summary.deletions > 0 ? " and \(HumanFormat.count(summary.deletions, "deletion"))" : "") + " exported"
        + (isFile ? " to \(PlainText.escaped(output))" : "")
        + ", in \(HumanFormat.duration(started.duration(to: .now)))")
  }

  private struct StandardOutput: ExportSink {
    func write(_ bytes: [UInt8]) throws { try OutputWriter.standardOutput.write(bytes) }
    func finish() {}
    func discard() {}
  }
}

extension ExportFormat: ExpressibleByArgument {
  /// One of these types has to be among those that were asked for.
  fileprivate var needed: Set<SampleType>? {
    switch self {
    case .gpx: [.workout, .workoutRoute]
    case .calendar: [.workout]
    case .json, .ndjson, .csv, .appleXML, .transferJSON1, .transferJSON2, .transferCSV, .fhirBundle, .fhirLines: nil
    }
  }

  /// What it lacks for a sample that it cannot hold.
  fileprivate var place: String {
    switch self {
    case .appleXML: "Apple's export has no element"
    case .gpx: "there are no points on Earth"
    case .calendar: "a calendar has no date"
    case .transferJSON1, .transferJSON2, .transferCSV: "HealthAppTransfer has no place"
    case .fhirBundle, .fhirLines: "FHIR has no place"
    case .json, .ndjson, .csv: "there is no place"
    }
  }
}
