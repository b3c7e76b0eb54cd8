import ArgumentParser
import BenchData
import OperatingSystem

/// The command that writes a synthetic export for tests, demos and trials of importers.
struct MakeExport: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make-export", abstract: "Write a made-up Apple Health export of any size.",
    discussion: """
      The same arguments give the same export. --later makes one of the same person 30 days later.

      Examples:
        hpeer-bench make-export --records 1000000 --output export.zip
        hpeer-bench make-export --records 1000000 --later new,offset,units --output later.zip
        hpeer-bench make-export --records 9000000 --output export.xml    # 4 GB
      """)

  @Option(help: "About how many records.")
  var records = 100_000
  @Option(help: "Where to: a name that ends in .xml for the XML alone, else a zip file.")
  var output: String
  @Option(
    help: ArgumentHelp(
      "A later export, which differs in: \(MadeExport.Change.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "changes"), transform: Self.changes)
  var later: Set<MadeExport.Change>?
  @Option(help: "Another person's data.")
  var seed: UInt64 = 1
  @Flag(help: "Now and then a record is there twice.")
  var twins = false
  @Flag(help: "Now and then something is not as it should be.")
  var defects = false

  func validate() throws {
    guard records >= 100 else { throw ValidationError("--records takes 100 or more.") }
  }

  func run() async throws {
    var export = MadeExport(records: records, seed: seed, changes: later)
    (export.hasTwins, export.hasDefects) = (twins, defects)
    let (made, path) = (export, output)
    let summary = try await onThread { _ in try made.write(to: path) }
    Log.say("\(summary.records) records, \(summary.bytes) bytes of XML")
  }

  @Sendable private static func changes(_ text: String) throws -> Set<MadeExport.Change> {
    Set(
      try text.split(separator: ",").map { name in
        guard let change = MadeExport.Change(rawValue: String(name)) else {
          throw ValidationError(
            "\(name) is none of \(MadeExport.Change.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return change
      })
  }
}
