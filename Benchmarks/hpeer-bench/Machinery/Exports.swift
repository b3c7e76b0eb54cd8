import BenchData
import Foundation
import OperatingSystem

/// Made-up exports, and homes that have imported them.
struct Exports: Sendable {
  private let bench: Bench
  private var workspace: Workspace { bench.workspace }

  init(_ bench: Bench) { self.bench = bench }

  struct File: Sendable {
    let path: String
    /// Of the XML.
    let bytes: Int
  }

  /// An export of about so many records.
  ///
  /// - Parameters:
  ///   - changes: `nil` for the person's first export; else a later one, which differs in this.
  ///   - isZipped: else the XML alone.
  func file(of records: Int, changes: Set<MadeExport.Change>? = nil, isZipped: Bool = true) async throws -> File {
    let what = changes.map { "later-" + $0.map(\.rawValue).sorted().joined(separator: "-") } ?? "first"
    let name = "export-\(MadeExport.edition)-\(records)-\(bench.seed)-\(what).\(isZipped ? "zip" : "xml")"
    let (path, note) = (workspace.file(name), workspace.file(name + ".bytes"))
    if !workspace.has(name) || !workspace.has(name + ".bytes") {
      Log.say("  making an export of \(records) records (\(what))")
      let export = MadeExport(records: records, seed: bench.seed, changes: changes)
      let summary = try await onThread { _ in try export.write(to: path) }
      try "\(summary.bytes)".write(toFile: note, atomically: true, encoding: .utf8)
    }
    return File(path: path, bytes: Int(try String(contentsOfFile: note, encoding: .utf8)) ?? 0)
  }

  /// A home that is not there yet.
  func home() -> String { workspace.fresh("home") }
}

/// One `hpeer import`.
struct TimedImport: Sendable {
  let added: Int
  let unchanged: Int
  let deleted: Int
  /// From process start to exit.
  let seconds: Double
  let cpuSeconds: Double
  /// In bytes; 0 unless it was watched.
  let peak: Int

  /// All that it read.
  var samples: Int { added + unchanged }

  init(
    _ bench: Bench, _ path: String, into home: String, options: [String] = [], watchesMemory: Bool = false
  ) async throws {
    bench.workspace.settle()
    let outcome = try await bench.program.run(
      ["import", path, "--json"] + options, home: home, watchesMemory: watchesMemory, in: bench.workspace)
    let report = try outcome.json()
    (added, unchanged) = (report["added"] as? Int ?? -1, report["unchanged"] as? Int ?? -1)
    deleted = report["deleted"] as? Int ?? -1
    (seconds, cpuSeconds, peak) = (outcome.seconds, outcome.cpuSeconds, outcome.peak)
  }
}
