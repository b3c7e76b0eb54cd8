import BenchData
import Foundation
import OperatingSystem

/// Synthetic exports, and new homes to import them into.
struct Exports: Sendable {
  private let bench: Bench
  private var workspace: Workspace { bench.workspace }

  init(_ bench: Bench) { self.bench = bench }

  struct File: Sendable {
    let path: String
    /// The size of the XML, in bytes.
    let bytes: Int
  }

  /// Returns an export of about the given number of records, which is made if it doesn't exist.
  ///
  /// - Parameters:
  ///   - changes: The differences of a later export, or `nil` for the person's first export.
  ///   - isZipped: Whether the file is a zip file rather than only the XML.
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

  /// Returns the path of a home that doesn't exist yet.
  func home() -> String { workspace.fresh("home") }
}

/// The measurements of a run of `hpeer import`.
struct TimedImport: Sendable {
  let added: Int
  let unchanged: Int
  let deleted: Int
  /// The seconds from process start to exit.
  let seconds: Double
  let cpuSeconds: Double
  /// The peak memory in bytes, or 0 if it wasn't measured.
  let peak: Int

  /// The number of samples that the import read.
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
