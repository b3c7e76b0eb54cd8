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
      apple-xml is an export.xml as the Health app writes it, for programs that read those; apple-zip is that with the \
      files beside it (routes, electrocardiograms, clinical records), as the Health app shares it, and so is apple-xml into \
      a file whose name ends in .zip.

      hat-json-v1, hat-json-v2 and hat-csv are what the app HealthAppTransfer reads and writes; gpx has the routes of \
      workouts with the heart rate (--types workout leaves it out), ics the workouts for a calendar. What a format has \
      no place for is counted and named.

      A file whose name ends in .gz or .zst is compressed; `hpeer import` reads those, too. --split writes a file for each \
      type, each month or each workout (gpx, ics) into the folder that --output names.

      Files get mode 0600 and appear when they are whole; interrupted, nothing is left of them.

      Examples:
        hpeer export --output health.json
        hpeer export --format ndjson --output record.ndjson
        hpeer export --format csv --types stepCount,heartRate --from 2024-01-01 --output steps.csv
        hpeer export --format apple-xml --output export.zip --offset +02:00
        hpeer export --format gpx --from 2024-06-01 --output routes.gpx
        hpeer export --format ics --output workouts.ics
        hpeer export --output health.json.zst
        hpeer export --format csv --split month --compress gz --output months/
        hpeer export --format gpx --split workout --output tracks/
        hpeer export --output - | xz > health.json.xz
      """)

  @OptionGroup var common: CommonOptions
  @Option(help: "What the file is.")
  var format = ExportFormat.json
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: PeriodOptions
  @OptionGroup var sources: SourceOptions
  @Option(help: "The file to write, with --split the folder, or - for standard output (default).", completion: .file())
  var output = "-"
  @Option(help: "Write a file for each of these, into the folder that --output names.")
  var split: Division?
  @Option(help: "Compress what is written; without it, what the suffix of --output says.")
  var compress: FileCompression?
  @Flag(help: "Replace files that are there.")
  var force = false
  // Those west of Greenwich begin like options.
  @Option(
    parsing: .unconditional,
    help:
      "apple-xml, apple-zip: the offset from UTC of all dates, such as +02:00; default: that of --zone, or this machine's, now."
  )
  var offset: OffsetArgument?
  @Flag(help: "hat-csv: put an apostrophe before a text that a spreadsheet would take for a formula.")
  var defuseFormulas = false

  func validate() throws {
    if offset != nil, format != .appleXML, format != .appleArchive {
      throw ValidationError("--offset is for --format apple-xml and apple-zip.")
    }
    if output.lowercased().hasSuffix(".zip"), format != .appleXML, format != .appleArchive {
      throw ValidationError("\(output) would be no zip file: that is for --format apple-xml, others have --compress.")
    }
    if defuseFormulas, format != .transferCSV { throw ValidationError("--defuse-formulas is for --format hat-csv.") }
    if let types = selection.set, let needed = format.needed, types.isDisjoint(with: needed) {
      throw ValidationError(
        "--format \(format.rawValue) is about workouts: --types must name \(needed.map(\.shortName).sorted().joined(separator: " or "))."
      )
    }
    if output.isEmpty { throw ValidationError("--output takes a file, or - for standard output.") }
    if split != nil, output == "-" {
      throw ValidationError("--split writes several files: name a folder with --output.")
    }
    if split == .workout, format != .gpx, format != .calendar {
      throw ValidationError("--split workout is for --format gpx and ics: the others do not go by workouts.")
    }
    if split == nil, let suffix = FileCompression(suffixOf: output), let compress, compress != suffix {
      throw ValidationError(
        "\(output) would not be compressed as its name says: leave --compress out, or name it otherwise.")
    }
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
      writtenFormat, to: destination, filter: period.filter(selection, sources), compression: compression,
      offset: offset?.seconds ?? period.zone.timeZone.secondsFromGMT() / 60 * 60, defusesFormulas: defuseFormulas,
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
    if summary.partial > 0, writtenFormat == .appleArchive {
      Console.say(
        "Not exported: attachments without a name, and points that are nowhere on Earth, of "
          + "\(HumanFormat.count(summary.partial, "sample")); --format json holds them.")
    } else if summary.partial > 0 {
      Console.say(
        "Not exported: files that Apple's export keeps beside the XML (points of routes, clinical resources, "
          + "attachments), which \(HumanFormat.count(summary.partial, "sample")) would have; --format apple-zip has them."
      )
    }
    Console.say(
      "\(HumanFormat.count(summary.written, "sample"))"
        + (summary.points > 0 ? " with \(HumanFormat.count(summary.points, "point"))" : "")
        + (summary.deletions > 0 ? " and \(HumanFormat.count(summary.deletions, "deletion"))" : "") + " exported"
        + (split == nil ? "" : " to \(HumanFormat.count(summary.files, "file"))")
        + (isFile ? " \(split == nil ? "to" : "in") \(PlainText.escaped(output))" : "")
        + ", in \(HumanFormat.duration(started.duration(to: .now)))")
  }

  private var writtenFormat: ExportFormat {
    format == .appleXML && split == nil && output.lowercased().hasSuffix(".zip") ? .appleArchive : format
  }

  private var destination: ExportDestination {
    if output == "-" { return .stream(StandardOutput()) }
    let zone = period.zone.timeZone
    return switch split {
    case .type: .folder(path: output, split: .type, replaces: force)
    case .month: .folder(path: output, split: .month(zone), replaces: force)
    case .workout: .folder(path: output, split: .workout(zone), replaces: force)
    case nil: .file(path: output, replaces: force)
    }
  }

  private var compression: FileCompression? {
    // A folder may be called anything.
    compress ?? (split == nil ? FileCompression(suffixOf: output) : nil)
  }

  enum Division: String, ExpressibleByArgument, CaseIterable {
    case type, month, workout
  }

  private struct StandardOutput: ExportSink {
    func write(_ bytes: [UInt8]) throws { try OutputWriter.standardOutput.write(bytes) }
    func finish() {}
    func discard() {}
  }
}

extension FileCompression: ExpressibleByArgument {}

extension ExportFormat: ExpressibleByArgument {
  /// One of these types has to be among those that were asked for.
  fileprivate var needed: Set<SampleType>? {
    switch self {
    case .gpx: [.workout, .workoutRoute]
    case .calendar: [.workout]
    case .json, .ndjson, .csv, .appleXML, .appleArchive, .transferJSON1, .transferJSON2, .transferCSV: nil
    }
  }

  /// What it lacks for a sample that it cannot hold.
  fileprivate var place: String {
    switch self {
    case .appleXML, .appleArchive: "Apple's export has no element"
    case .gpx: "there are no points on Earth"
    case .calendar: "a calendar has no date"
    case .transferJSON1, .transferJSON2, .transferCSV: "HealthAppTransfer has no place"
    case .json, .ndjson, .csv: "there is no place"
    }
  }
}
