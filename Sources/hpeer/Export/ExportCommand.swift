import ArgumentParser
import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthOperations
import Terminal

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write samples to a file, in one of the formats that programs read.",
    discussion: """
      JSON, NDJSON and CSV hold all that the store does of a sample, and `hpeer import` reads them back; docs/reference/formats \
      says how they look. NDJSON is the change feed, and so the whole record: it has deletions, too, and samples that are \
      not shown because they came by another road as well. All three have times in UTC, whatever --zone says of --from and --to. CSV is RFC 4180 and changes no text: one that begins with = may be a formula to a spreadsheet. \
      apple-xml is an export.xml as the Health app writes it, for programs that read those; apple-zip is that with the \
      files beside it (routes, electrocardiograms, clinical records), as the Health app shares it, and so is apple-xml into \
      a file whose name ends in .zip.

      hat-json-v1, hat-json-v2 and hat-csv are what the app HealthAppTransfer reads and writes; gpx has the routes of \
      workouts with the heart rate (--types workout leaves it out), ics the workouts for a calendar. health-auto-export \
      is the JSON of that app, not aggregated, for servers that take it; sqlite is the database that \
      healthkit-to-sqlite makes of Apple's export, for Datasette. statistics-csv and statistics-json hold the numbers of \
      `hpeer stats` instead of samples. What a format has no place for is counted and named.

      fhir is a Bundle of FHIR R4 resources, fhir-ndjson the same a line each (Bulk Data): an Observation for each sample, \
      with codes of LOINC and SNOMED CT where there are any and units of UCUM. `hpeer import` reads both back. --fhir-map \
      names a table of other codes and units, --fhir-subject the patient on your server; docs/reference/formats/fhir.md says how.

      The format follows from the suffix of the file (.json, .ndjson, .csv, .xml, .zip, .gpx, .ics, .db), unless --format \
      is given. A file whose name ends in .gz or .zst is compressed; `hpeer import` reads those, too. --split writes a file for each \
      type, each month or each workout (gpx, ics) into the folder that --output names.

      Files get mode 0600 and appear when they are whole; interrupted, nothing is left of them.

      Examples:
        hpeer export --output health.json
        hpeer export --output record.ndjson
        hpeer export --types stepCount --from 2024 --output steps.csv
        hpeer export --format apple-xml --output export.zip --offset +02:00
        hpeer export --format gpx --from 2024-06-01 --output routes.gpx
        hpeer export --format ics --output workouts.ics
        hpeer export --output health.json.zst
        hpeer export --format csv --split month --compress gz --output months/
        hpeer export --format gpx --split workout --output tracks/
        hpeer export --format health-auto-export --from 7d --output week.json
        hpeer export --output health.db
        hpeer export --format statistics-csv --by week --output weeks.csv
        hpeer export --format fhir-ndjson --types heartRate --output heart.ndjson
        hpeer export --output - | xz > health.json.xz
      """)

  @OptionGroup var common: CommonOptions
  @Option(
    name: .customLong("format"), help: "The format. Default: from the suffix of --output, else json.")
  var namedFormat: ExportFormat?
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: RecordPeriodOptions
  @OptionGroup var sources: SourceOptions
  @Option(
    name: [.short, .long], help: "The file to write, with --split the folder, or - for standard output (default).",
    completion: .file())
  var output = "-"
  @Option(help: "Write a file for each of these, into the folder that --output names.")
  var split: Division?
  @Option(help: "The compression. Default: from the suffix of --output.")
  var compress: FileCompression?
  @Flag(help: "Replace files that are there.")
  var force = false
  // Offsets west of Greenwich begin with a hyphen, as options do.
  @Option(
    parsing: .unconditional,
    help:
      "apple-xml, apple-zip, health-auto-export, sqlite: the offset from UTC of all dates, such as +02:00; default: that of --zone, or of the home zone, now."
  )
  var offset: OffsetArgument?
  @Flag(help: "hat-csv: put an apostrophe before a text that a spreadsheet would take for a formula.")
  var defuseFormulas = false
  @Option(help: "fhir, fhir-ndjson: a table with other codes, units or categories for some types.", completion: .file())
  var fhirMap: String?
  @Option(help: "fhir, fhir-ndjson: the patient of the samples, such as Patient/123; default: a Patient in the file.")
  var fhirSubject: String?

  @Option(help: "statistics-csv and -json: the length of each interval: hour, day, week, month or year.")
  var by: BucketSize?
  @Option(
    help:
      "statistics-csv and -json: a row for each interval and type (long), or for each interval with all types (wide).")
  var shape: StatisticsForm.Shape?
  @Option(help: "statistics-csv and -json: also write intervals without samples, with null or an empty field.")
  var fill: GapFilling?
  @Option(help: "statistics-csv and -json: the day on which weeks begin.")
  var weekStart: WeekStart?

  private var format: ExportFormat { namedFormat ?? (split == nil ? ExportName(output).format : nil) ?? .json }

  func validate() throws {
    if split == nil { try ExportName(output).require(format, isNamed: namedFormat != nil) }
    try require(.statistics, "--by, --shape, --fill and --week-start are", if: statisticsAreMeant)
    try require(.offset, "--offset is", if: offset != nil)
    try require(.formulas, "--defuse-formulas is", if: defuseFormulas)
    try require(.fhir, "--fhir-map and --fhir-subject are", if: fhirMap != nil || fhirSubject != nil)
    if !format.isStream, output == "-" || split != nil || compression != nil {
      throw ValidationError(
        "--format \(format.rawValue) writes a single file. Name it with --output, without --split and --compress.")
    }
    if output.lowercased().hasSuffix(".zip"), format != .appleXML, format != .appleArchive {
      throw ValidationError(
        "\(output) would not be a zip file. Only --format apple-xml and apple-zip write zip files; others take --compress."
      )
    }
    if let fhirSubject, !FHIRWriter.isReference(fhirSubject) {
      throw ValidationError("--fhir-subject takes a reference, such as Patient/123.")
    }
    if let types = selection.set, let needed = format.subject?.namedBy, types.isDisjoint(with: needed) {
      throw ValidationError(
        "--format \(format.rawValue) is about workouts: --types must name \(needed.map(\.shortName).sorted().joined(separator: " or "))."
      )
    }
    if output.isEmpty { throw ValidationError("--output takes a file, or - for standard output.") }
    if split != nil, output == "-" {
      throw ValidationError("--split writes several files: name a folder with --output.")
    }
    if split == .workout, !format.takes.contains(.workouts) {
      throw ValidationError(
        "--split workout is for --format \(Self.names(taking: .workouts)): the others do not go by workouts.")
    }
    if split == nil, let suffix = FileCompression(suffixOf: output), let compress, compress != suffix {
      throw ValidationError(
        "\(output) would not be compressed as its name says: leave --compress out, or name it otherwise.")
    }
  }

  private var statisticsAreMeant: Bool { by != nil || shape != nil || fill != nil || weekStart != nil }

  /// Throws if an option is given to a format that does not have it.
  private func require(_ option: ExportFormat.Options, _ words: String, if isGiven: Bool) throws {
    guard isGiven, !format.takes.contains(option) else { return }
    throw ValidationError("\(words) for --format \(Self.names(taking: option)).")
  }

  private static func names(taking option: ExportFormat.Options) -> String {
    let names = ExportFormat.allCases.filter { $0.takes.contains(option) }.map(\.rawValue)
    guard let last = names.last, names.count > 1 else { return names.joined() }
    return "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }

  func run() async throws {
    let isFile = output != "-"
    if !isFile, Console.capabilities.isTerminal(.output) {
      throw ValidationError("Name a file with --output, or send standard output somewhere: a terminal shows no export.")
    }
    if !isFile { try OutputWriter.standardOutput.requireOpen() }
    let started = ContinuousClock.now
    let store = try await common.homeDirectory.openStoreForCopying()
    let names = try await sources.known(in: store)
    let period = try await period.period(in: store)
    let operation = ExportOperation(
      writtenFormat, to: destination(in: period.zone), filter: period.filter(selection.setWithMembers, names),
      compression: compression, options: try options(in: period.zone), progress: ProgressBars())
    let summary = try await interruptible("no file was written.") { try await operation.run(from: store) }
    if !summary.isAudited {
      Console.warn("this store cannot be written, so its audit log does not have this export.")
    }
    for (type, count) in summary.omitted.sorted(by: { $0.key < $1.key }) {
      Console.say(
        "Not exported: \(HumanFormat.count(count, "sample")) of \(PlainText.escaped(type.shortName, limit: 100)), for "
          + "which \(format.lack).")
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
        + (summary.rows > 0 ? " as \(HumanFormat.count(summary.rows, "row"))" : "")
        + (summary.points > 0 ? " with \(HumanFormat.count(summary.points, "point"))" : "")
        + (summary.deletions > 0 ? " and \(HumanFormat.count(summary.deletions, "deletion"))" : "") + " exported"
        + (split == nil ? "" : " to \(HumanFormat.count(summary.files, "file"))")
        + (isFile ? " \(split == nil ? "to" : "in") \(PlainText.escaped(output, limit: 4_096))" : "")
        + ", in \(HumanFormat.duration(started.duration(to: .now)))")
  }

  private var writtenFormat: ExportFormat {
    format == .appleXML && split == nil && output.lowercased().hasSuffix(".zip") ? .appleArchive : format
  }

  private func destination(in zone: TimeZone) -> ExportDestination {
    if output == "-" { return .stream(StandardOutput()) }
    return switch split {
    case .type: .folder(path: output, split: .type, replaces: force)
    case .month: .folder(path: output, split: .month(zone), replaces: force)
    case .workout: .folder(path: output, split: .workout(zone), replaces: force)
    case nil: .file(path: output, replaces: force)
    }
  }

  private var compression: FileCompression? {
    // A folder's name says nothing about compression.
    compress ?? (split == nil ? FileCompression(suffixOf: output) : nil)
  }

  enum Division: String, ExpressibleByArgument, CaseIterable {
    case type, month, workout
  }

  private func options(in zone: TimeZone) throws -> ExportOptions {
    var options = ExportOptions()
    options.offset = offset?.seconds ?? zone.secondsFromGMT() / 60 * 60
    options.defusesFormulas = defuseFormulas
    options.statistics = StatisticsForm(
      by: by ?? .day, in: try ZoneRules(zone), weekStartsOnSunday: weekStart == .sunday, shape: shape ?? .long,
      fillsGaps: fill != nil)
    options.fhir = FHIROptions(
      subject: fhirSubject, map: try fhirMap.map(FHIRMap.standard.overridden(byFile:)) ?? .standard)
    return options
  }

  private struct StandardOutput: ExportSink {
    func write(_ bytes: [UInt8]) throws { try OutputWriter.standardOutput.write(bytes) }
    func finish() {}
    func discard() {}
  }
}

extension FileCompression: ExpressibleByArgument {}
extension StatisticsForm.Shape: ExpressibleByArgument {}

extension ExportFormat: ExpressibleByArgument {
  public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

/// The format that the name of a file implies.
struct ExportName {
  /// The suffixes of formats that are not written, and what to choose instead.
  private static let foreign = [
    "xlsx": csv, "xls": csv, "ods": csv, "numbers": csv, "tsv": csv, "pdf": page, "html": page, "htm": page,
    "parquet": columns, "age": encryption, "asc": encryption, "enc": encryption, "gpg": encryption, "pgp": encryption,
  ]
  private static let encryption = "an export is not encrypted, `hpeer backup` is"
  private static let csv = "spreadsheets open --format csv"
  private static let page = "`hpeer report` writes a page to read and print"
  private static let columns = "DuckDB and pandas read --format csv"

  /// The suffix in lower case, without the dot and without the suffix of a compression.
  private let suffix: String

  init(_ path: String) {
    var name = String(path.split(separator: "/").last ?? "").lowercased()
    if let compression = FileCompression(suffixOf: name) { name.removeLast(compression.rawValue.count + 1) }
    suffix = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? ""
  }

  /// The export format that the name implies, if any.
  var format: ExportFormat? { ExportFormat(suffix: suffix) }

  /// The report format that the name implies, if any.
  var report: ReportOperation.Format? {
    switch suffix {
    case "html", "htm": .html
    case "pdf": .pdf
    default: nil
    }
  }

  /// Throws `ValidationError` if the name implies another format than the given one.
  ///
  /// - Parameter isNamed: Whether the format was asked for by its own name.
  func require(_ format: ExportFormat, isNamed: Bool) throws {
    if !isNamed, let instead = Self.foreign[suffix] {
      throw ValidationError("No format is called .\(suffix): \(instead).")
    }
    guard let named = self.format, named.suffix != format.suffix else { return }
    if format == .appleXML, named == .appleArchive { return }
    throw ValidationError(
      "A file that ends in .\(suffix) would not be \(format.rawValue): name it .\(format.suffix), or choose --format \(named.rawValue)."
    )
  }
}
