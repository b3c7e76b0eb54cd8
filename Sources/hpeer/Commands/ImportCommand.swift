import ArgumentParser
import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Terminal

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Read an Apple Health export into the store.",
    discussion: """
      PATH is the export.zip that the iPhone made, the export.xml in it, or the unzipped folder. Importing the same \
      export again, or a later one, adds only what is new.

      An export is everything that the phone holds. With --snapshot, what earlier exports of the same person had and \
      this one lacks is deleted here, and on machines that pull from here, for good: it does not come back with an \
      older export. Only types that this export holds, and only if it is whole and newer than the others. If that were \
      more than a twentieth of the samples, or all that was known of a type, nothing is deleted without --force. \
      --dry-run says what would happen and changes nothing; begin with that.

      Examples:
        hpeer import ~/Downloads/export.zip
        hpeer import --snapshot --dry-run export.zip
        hpeer import --json apple_health_export/
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Flag(help: "Delete what earlier exports had and this one lacks.")
  var snapshot = false
  @Flag(help: "Say what would happen, and change nothing.")
  var dryRun = false
  @Flag(help: "With --snapshot: delete however much is missing.")
  var force = false
  @Flag(help: "Read the file even if its very bytes were imported before.")
  var rescan = false
  @Argument(help: "export.zip, export.xml or the unzipped folder.", completion: .file())
  var path: String

  func validate() throws {
    if force, !snapshot { throw ValidationError("--force means something only with --snapshot.") }
  }

  func run() async throws {
    let started = ContinuousClock.now
    let path = path
    let export = try await onThread { _ in try AppleHealthExport(path: path) }
    let store = try common.homeDirectory.createStore()
    let result = dryRun ? try await tryOut(export, store) : try await importAudited(export, store)
    try ImportPresentation(result: result, isDryRun: dryRun, duration: started.duration(to: .now))
      .print(json: output.json)
    if let failure = failure(result) { throw failure }
  }

  private func importAudited(_ export: AppleHealthExport, _ store: HealthStore) async throws -> ImportResult {
    // First, so that an import that is cut off anywhere is in the log.
    try await store.record(AuditEvent(.importStarted, ["file": file]))
    let result = try await importing(export, store)
    var detail = [
      "file": file, "added": String(result.summary.added), "unchanged": String(result.summary.unchanged),
      "deleted": String(result.summary.deleted), "complete": String(result.report.isComplete || result.earlier != nil),
    ]
    if let snapshot = result.snapshot { detail["snapshot"] = snapshot.name }
    try await store.record(AuditEvent(.imported, detail))
    return result
  }

  private func tryOut(_ export: AppleHealthExport, _ store: HealthStore) async throws -> ImportResult {
    let home = common.homeDirectory
    let dryRun = try await onThread { _ in try DryRun(of: store, in: home) }
    defer { dryRun.remove() }
    return try await importing(export, dryRun.store)
  }

  private func importing(_ export: AppleHealthExport, _ store: HealthStore) async throws -> ImportResult {
    let bar = ProgressBar(label: "import", totalBytes: Int(export.workBytes), capabilities: Console.capabilities)
    defer { bar.finish() }
    let work = AppleImport(
      export: export, name: file, store: store,
      options: .init(rescans: rescan, isSnapshot: snapshot, force: force), bar: bar)
    return try await interruptible { try await work.run() }
  }

  private var file: String { URL(fileURLWithPath: path).lastPathComponent }

  private func failure(_ result: ImportResult) -> CommandFailure? {
    if result.earlier == nil, !result.report.isComplete {
      return CommandFailure(
        .badInput,
        "The export ends in the middle, so only what is whole was read; export again on the phone and import that too.")
    }
    guard result.snapshot == .refused, !dryRun else { return nil }
    return CommandFailure(
      .partial,
      "Nothing was deleted, because \(result.missing.explanation); look with --dry-run, and give --force if that is right."
    )
  }
}
