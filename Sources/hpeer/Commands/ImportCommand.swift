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

      Examples:
        hpeer import ~/Downloads/export.zip
        hpeer import --json apple_health_export/
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Argument(help: "export.zip, export.xml or the unzipped folder.", completion: .file())
  var path: String

  func run() async throws {
    let started = ContinuousClock.now
    let path = path
    let export = try await onThread { _ in try AppleHealthExport(path: path) }
    let store = try common.homeDirectory.createStore()
    let file = URL(fileURLWithPath: path).lastPathComponent
    // First, so that an import that is cut off anywhere is in the log.
    try await store.record(AuditEvent(.importStarted, ["file": file]))
    let bar = ProgressBar(label: "import", totalBytes: Int(export.workBytes), capabilities: Console.capabilities)
    let result: ImportResult
    do {
      result = try await interruptible { try await Importing(export: export, store: store, bar: bar).run() }
      bar.finish()
    } catch {
      bar.finish()
      throw error
    }
    try await store.record(
      AuditEvent(
        .imported,
        [
          "file": file, "added": String(result.summary.added),
          "unchanged": String(result.summary.unchanged), "deleted": String(result.summary.deleted),
          "complete": String(result.report.isComplete),
        ]))
    try ImportPresentation(result: result, duration: started.duration(to: .now)).print(json: output.json)
    if !result.report.isComplete {
      throw CommandFailure(
        .badInput,
        "The export ends in the middle, so only what is whole was read; export again on the phone and import that too.")
    }
  }
}
