import ArgumentParser
import Destinations
import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import OperatingSystem
import PeerTrust
import Terminal

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Read an Apple Health export, or another file of samples, into the store.",
    discussion: """
      PATH is the export.zip that the iPhone made, the export.xml in it, or the unzipped folder; or what `hpeer export` \
      wrote, as JSON, CSV or FHIR; or a saved change feed; or JSON of Health Auto Export; or a Fitbit export (Google Takeout), as a zip or a folder; or a folder of files by type and day, as the destinations folder, s3 and webdav and \
      the app HealthPush write them, or where such a destination of config.toml delivers to, as destination:NAME; or such a \
      bucket, as s3://BUCKET/PREFIX, with the server and the credentials of the environment (AWS_ENDPOINT_URL, AWS_REGION, \
      AWS_ACCESS_KEY_ID, ~/.aws/credentials), or such a WebDAV server, as webdavs://HOST/PATH (WEBDAV_USERNAME, \
      WEBDAV_PASSWORD). The format is detected from the content. \
      Importing the same again, or a later export, adds only what is new. Of several exports in one zip file or folder \
      all are read, if they are of one person. Several files, and the zip files of a folder, are read one after the other, \
      the oldest first.

      What is of another person than the store, by date of birth, sex or blood type, is refused unless you confirm, \
      on a terminal or with --merge-person, that it is the same person's.

      An export is everything that the phone holds. With --snapshot, what earlier exports of the same person had and \
      this one lacks is deleted here, and on machines that pull from here, for good: it does not come back with an \
      older export. Only types that this export holds, and only if it is whole and not older than the others. If that \
      were more than a twentieth of the samples, or all that was known of a type, nothing is deleted without --force. \
      --dry-run says what would happen and changes nothing; begin with that.

      --undo takes the last import back without a trace, as long as no other machine has read any of it and nothing \
      else has changed the store since; then the file can be imported again.

      Examples:
        hpeer import ~/Downloads/export.zip
        hpeer import ~/Downloads/export*.zip
        hpeer import --snapshot --dry-run export.zip
        hpeer import --json apple_health_export/
        hpeer import --undo --dry-run
        hpeer import destination:backup
        hpeer import s3://my-health/ada
        hpeer import takeout-20251103T000000Z-1-001.zip --zone America/New_York
        hpeer import HealthAutoExport-2024-01-01-2024-03-31.json --as-of 2024-04-01
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Flag(help: "Take the last import back.")
  var undo = false
  @Flag(help: "Delete what earlier exports had and this one lacks.")
  var snapshot = false
  @Flag(help: "Say what would happen, and change nothing.")
  var dryRun = false
  @Flag(help: "With --snapshot: delete however much is missing.")
  var force = false
  @Flag(help: "Import even if the file says another date of birth, sex or blood type than the store.")
  var mergePerson = false
  @Flag(help: "Read an Apple Health export even if the same file was imported before.")
  var rescan = false
  @Option(
    help: """
      When a file of Health Auto Export was made (2024-06-15 or 2024-06-15T10:30): newer numbers replace older ones. \
      Else the newest date in it counts.
      """)
  var asOf: DateArgument?
  @Flag(
    help: """
      Numbers in files by type and day are those of the app HealthPush, six of whose types are in another unit than \
      they say. What hpeer wrote is read as it is.
      """)
  var repairUnits = false
  @OptionGroup var zone: ZoneOptions
  @Argument(
    help: """
      export.zip, export.xml, the unzipped folder, a JSON or CSV file, destination:NAME, s3://BUCKET/PREFIX, \
      webdavs://HOST/PATH, or - for standard input.
      """,
    completion: .file())
  var paths: [String] = []

  private var path: String? { paths.first }

  func validate() throws {
    if force, !snapshot { throw ValidationError("--force needs --snapshot.") }
    if undo {
      guard path == nil, !snapshot, !rescan, !mergePerson, asOf == nil, !repairUnits else {
        throw ValidationError("--undo takes back the last import. Give no file, and no option but --dry-run.")
      }
    } else if path == nil {
      throw ValidationError("Missing expected argument '<path>'")
    } else if paths.count > 1 {
      guard !snapshot, !output.json, !paths.contains("-") else {
        throw ValidationError("--snapshot, --json and standard input need exactly one path.")
      }
    }
  }

  func run() async throws {
    guard let path else {
      return try await ImportUndoing(home: common.homeDirectory, isDryRun: dryRun, zone: zone)
        .run(json: output.json)
    }
    ProcessMemory.returnLargeBlocks()
    if paths.count > 1 { return try await run(each: paths) }
    if DayFilesDownload.isAddress(path) {
      return try await run(download: try DayFilesDownload(address: path), path)
    }
    if path.hasPrefix(Self.destinationPrefix) { return try await run(destination: path) }
    let input = path == "-" ? try await spooled() : nil
    do {
      try await run(input?.path ?? path)
    } catch let error as ImportError where !snapshot && Self.zipFiles(error) != nil {
      try await run(each: Self.zipFiles(error) ?? [])
    } catch let error as ImportError {
      if case .notAnExport(let file, _) = error, Self.isEncrypted(file) {
        throw CommandFailure(
          .badInput,
          "\(PlainText.escaped(path, limit: 4_096)) is an encrypted backup: `hpeer restore \(ShellWord.quoted(path))` puts it back."
        )
      }
      throw input?.naming(error) ?? error
    }
  }

  /// Returns the zip files of a folder that holds nothing else of an export; `nil` if there is none directly in it.
  private static func zipFiles(_ error: ImportError) -> [String]? {
    guard case .onlyZipFiles(let folder, _) = error else { return nil }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let files = names.filter { $0.lowercased().hasSuffix(".zip") }.map { "\(folder)/\($0)" }
    return files.isEmpty ? nil : files
  }

  /// Imports files one after the other, the oldest first. If one is no export, the others are read all the same.
  private func run(each paths: [String]) async throws {
    let dated = paths.map { path in
      let changed = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      return (path: path, changed: changed ?? .distantFuture)
    }
    var failures: [any Error] = []
    for (index, file) in dated.sorted(by: { ($0.changed, $0.path) < ($1.changed, $1.path) }).enumerated() {
      let name = PlainText.escaped(URL(fileURLWithPath: file.path).lastPathComponent, limit: 200)
      Console.say("\(index + 1) of \(paths.count): \(name)")
      var one = self
      one.paths = [file.path]
      do {
        try await one.run()
      } catch {
        let status = ExitStatus.of(error)
        if status == .interrupted || error is OutputError || paths.count == 1 { throw error }
        Console.say("\(name): \(ErrorText.of(error))")
        failures.append(error)
      }
    }
    guard let first = failures.first else { return }
    throw ExitCode((failures.count < paths.count ? ExitStatus.partial : ExitStatus.of(first)).rawValue)
  }

  /// Returns whether a file is encrypted with age.
  private static func isEncrypted(_ path: String) -> Bool {
    guard let handle = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? handle.close() }
    let head = (try? handle.read(upToCount: 32)) ?? Data()
    return ["age-encryption.org/", "-----BEGIN AGE"].contains { head.starts(with: Data($0.utf8)) }
  }

  private func run(_ path: String) async throws {
    let started = ContinuousClock.now
    let source = try await ImportFile.recognised(at: path)
    let operation = try ImportOperation(
      source, named: file, options: options, progress: ProgressBars(), confirm: Self.confirmation)
    let store = try common.homeDirectory.createStore()
    let consequence =
      dryRun ? "nothing was changed." : "everything up to here is saved, and the same command goes on from there."
    let result = try await interruptible(consequence) { try await operation.run(into: store) }
    try ImportPresentation(result: result, isDryRun: dryRun, duration: started.duration(to: .now), zone: zone)
      .print(json: output.json)
    if !dryRun, !output.json { try await ZoneAdvice(store: store, report: result.report).give() }
    if let failure = failure(result) { throw failure }
  }

  private static let destinationPrefix = "destination:"

  /// Imports from the place that a destination of config.toml delivers to.
  private func run(destination address: String) async throws {
    let name = String(address.dropFirst(Self.destinationPrefix.count))
    let file = try common.homeDirectory.settings()
    guard let section = file.destination(name) else {
      let similar = SimilarNames.suggestions(for: name, among: file.destinations.map(\.name))
      throw CommandFailure(
        .badInput,
        "There is no destination called \(PlainText.escaped(name, limit: 80)); "
          + (similar.isEmpty
            ? "`hpeer destination list` names them." : "did you mean \(similar.joined(separator: " or "))?"))
    }
    if let folder = DayFilesDownload.folder(of: section) { return try await run(folder) }
    let download = try await onThread { _ in try DayFilesDownload(section) }
    try await run(download: download, address)
  }

  /// Downloads all files into a temporary folder, then imports them.
  private func run(download: DayFilesDownload, _ address: String) async throws {
    let home = common.homeDirectory
    // This creates the folder of the home, which only its user can read.
    _ = try home.createStore()
    let folder = "\(home.directory)/import-\(UUID().uuidString.lowercased())"
    try PrivateFile.makeDirectory(folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let count = try await interruptible("nothing was imported.") { try await download.run(into: folder) }
    guard count > 0 else {
      throw CommandFailure(.badInput, "There are no files by type and day at \(address): is the prefix right?")
    }
    try await run(folder)
  }

  private var options: ImportOptions {
    var options = ImportOptions()
    options.rescans = rescan
    options.isSnapshot = snapshot
    options.force = force
    options.mergesPersons = mergePerson
    options.isDryRun = dryRun
    options.repairsUnits = repairUnits
    options.zone = zone.isNamed ? zone.timeZone : nil
    options.asOf = asOf?.bounds(in: zone.timeZone, now: .now).start.start(in: zone.timeZone, now: .now)
    return options
  }

  /// The question whether two records are of the same person; `nil` if there is no person to answer.
  private static var confirmation: ImportOperation.PersonConfirmation? {
    guard Console.isInteractive else { return nil }
    return { contradiction in
      let differences = PersonText.differences(contradiction)
      return try await Prompt.confirm("This file says \(differences). Is it the same person's record?")
    }
  }

  private func spooled() async throws -> SpooledInput {
    let home = common.homeDirectory
    // This creates the folder of the home, which only its user can read.
    _ = try home.createStore()
    return try await interruptible("nothing was imported.") {
      try await onThread { isCancelled in try SpooledInput(in: home.directory, isCancelled: isCancelled) }
    }
  }

  private var file: String {
    path.map {
      $0 == "-"
        ? "standard input"
        : DayFilesDownload.isAddress($0) || $0.hasPrefix(Self.destinationPrefix)
          ? $0 : URL(fileURLWithPath: $0).lastPathComponent
    } ?? ""
  }

  private func failure(_ result: ImportResult) -> CommandFailure? {
    if result.earlier == nil, !result.report.isComplete {
      return CommandFailure(
        .badInput,
        "The file ends in the middle\(result.report.whereItEnds), so only what is whole was read; "
          + "export or copy it again and import that too.",
        isInReport: true)
    }
    guard result.snapshot == .refused, !dryRun else { return nil }
    return CommandFailure(
      .partial,
      "Nothing was deleted, because \(result.missing.explanation); look with --dry-run, and give --force if that is right.",
      isInReport: true)
  }
}
