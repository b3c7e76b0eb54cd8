import Foundation
import OperatingSystem

/// A benchmark of the time and peak memory of an export in each format.
struct ExportFormats {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  /// A format, its goal in samples a second, and its measurements.
  private struct Format {
    var name: String
    /// The suffix of the file name, which determines the compression.
    var suffix: String
    var goal: Double?
    var seconds: [Double] = []
    var floors: [Double] = []
    var peaks: [Double] = []
    var samples = 0
  }

  func measure() async throws -> Row {
    let home = bench.exports.home()
    _ = try await TimedImport(bench, try await bench.exports.file(of: bench.sizes.samples).path, into: home)
    // A few samples take as long as the program takes to start.
    let goal = bench.sizes.isQuick ? nil : 300_000.0
    var formats = [
      Format(name: "json", suffix: "json", goal: goal), Format(name: "ndjson", suffix: "ndjson", goal: goal),
      Format(name: "csv", suffix: "csv", goal: goal), Format(name: "json", suffix: "json.gz"),
      Format(name: "json", suffix: "json.zst"), Format(name: "apple-xml", suffix: "xml"),
      Format(name: "apple-zip", suffix: "zip"), Format(name: "hat-json-v1", suffix: "json"),
      Format(name: "hat-json-v2", suffix: "json"), Format(name: "hat-csv", suffix: "csv"),
      Format(name: "health-auto-export", suffix: "json"), Format(name: "fhir", suffix: "json"),
      Format(name: "fhir-ndjson", suffix: "ndjson"), Format(name: "sqlite", suffix: "db"),
      Format(name: "gpx", suffix: "gpx"), Format(name: "ics", suffix: "ics"),
      Format(name: "statistics-csv", suffix: "csv"),
    ]
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      for index in formats.indices {
        let file = bench.workspace.fresh("written") + ".\(formats[index].suffix)"
        bench.workspace.settle()
        let outcome = try await bench.program.run(
          ["export", "--format", formats[index].name, "--output", file], home: home, watchesMemory: true,
          in: bench.workspace)
        let floor = try await onThread { [copy = bench.workspace.fresh("floor")] _ in
          try Self.seconds(toCopy: file, to: copy)
        }
        bench.workspace.remove(file)
        guard round >= bench.sizes.warmUps else { continue }
        formats[index].samples = Self.count(outcome.errors)
        formats[index].seconds.append(outcome.seconds)
        formats[index].floors.append(floor)
        formats[index].peaks.append(Double(outcome.peak) / 1_048_576)
      }
    }
    bench.workspace.remove(home)
    var row = Row(.formats)
    for format in formats {
      let name = "\(format.name) (.\(format.suffix))"
      row.add(
        "\(name), samples a second", Double(format.samples) / median(format.seconds), .perSecond,
        goal: format.goal.map { .atLeast($0) })
      row.add("\(name) / plain write of the same bytes", median(format.seconds) / median(format.floors), .ratio)
      row.add("\(name), peak memory", medianOf: format.peaks, .mebibytes, goal: .atMost(96))
    }
    return row
  }

  /// Returns the number in `1,004,168 samples exported`.
  private static func count(_ text: String) -> Int {
    guard let match = text.firstMatch(of: #/([0-9,]+) samples?[^\n]* exported/#) else { return 0 }
    return Int(match.1.filter { $0 != "," }) ?? 0
  }

  /// Returns the time to write a file to disk from memory, in seconds.
  private static func seconds(toCopy path: String, to copy: String) throws -> Double {
    let content = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    defer { unlink(copy) }
    let descriptor = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BenchFailure("\(copy) cannot be written.") }
    defer { close(descriptor) }
    let started = ContinuousClock.now
    let code = content.withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0, fsync(descriptor) == 0 else { throw BenchFailure("\(copy) cannot be written.") }
    return started.duration(to: .now).seconds
  }
}
