import ArgumentParser
import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Terminal

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Read an Apple Health export, or another file of samples, into the store.",
    discussion: """
      PATH is the export.zip that the iPhone made, the export.xml in it, or the unzipped folder; or what `hpeer export` \
      wrote, as JSON or CSV; or a saved change feed; or JSON of Health Auto Export. What it is, its content tells. \
      Importing the same again, or a later export, adds only what is new.

      Examples:
        hpeer import ~/Downloads/export.zip
        hpeer import --json apple_health_export/
        hpeer import HealthAutoExport-2024-01-01-2024-03-31.json --as-of 2024-04-01
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Argument(help: "export.zip, export.xml, the unzipped folder, or a JSON or CSV file.", completion: .file())
  var path: String
  @Option(
    help: """
      When a file of Health Auto Export was made (2024-06-15, local, or ISO 8601): newer numbers replace older ones. \
      Else the newest date in it counts.
      """)
  var asOf: DateArgument?

  func run() async throws {
    let started = ContinuousClock.now
    let (path, asOf) = (path, asOf?.start)
    let source = try await onThread { _ in try ImportFile.recognise(path) }
    let store = try common.homeDirectory.createStore()
    let file = URL(fileURLWithPath: path).lastPathComponent
    // First, so that an import that is cut off anywhere is in the log.
    try await store.record(AuditEvent(.importStarted, ["file": file]))
    let bar = ProgressBar(label: "import", totalBytes: Int(source.workBytes), capabilities: Console.capabilities)
    let result: ImportResult
    do {
      result = try await interruptible {
        switch source {
        case .appleHealth(let export): try await Importing(export: export, store: store, bar: bar).run()
        case .samples(let file):
          try await ImportingFile(store: store, bar: bar) { try file.read(progress: $0, deliver: $1) }.run()
        case .healthAutoExport(let file):
          try await ImportingFile(store: store, bar: bar) {
            try file.read(asOf: asOf, progress: $0, deliver: $1)
          }.run()
        }
      }
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
        "The file ends in the middle, so only what is whole was read; export or copy it again and import that too.")
    }
  }
}
