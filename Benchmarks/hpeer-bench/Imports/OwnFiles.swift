/// A benchmark of exports from a store to hpeer's own JSON and CSV and of their import into another store, compared
/// with the import of the XML with the same samples.
struct OwnFiles {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let formats = ["json", "csv"]

  /// The measured processor times, in seconds.
  private struct Times {
    var exports: [Double] = []
    var imports: [Double] = []
  }

  func measure() async throws -> Row {
    let xml = try await bench.exports.file(of: bench.sizes.samples, isZipped: false)
    var imports: [Double] = []
    var times = Self.formats.map { _ in Times() }
    var samples = 0
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let isMeasured = round >= bench.sizes.warmUps
      let home = bench.exports.home()
      let first = try await TimedImport(bench, xml.path, into: home)
      samples = first.added
      if isMeasured { imports.append(first.cpuSeconds) }
      for (index, format) in Self.formats.enumerated() {
        let file = bench.workspace.fresh("own")
        bench.workspace.settle()
        let export = try await bench.program.run(
          ["export", "--format", format, "--output", file], home: home, in: bench.workspace)
        let copy = bench.exports.home()
        let again = try await TimedImport(bench, file, into: copy)
        bench.workspace.remove(copy)
        bench.workspace.remove(file)
        guard again.added == first.added else {
          throw BenchFailure("The import of \(format) added \(again.added) samples of \(first.added).")
        }
        guard isMeasured else { continue }
        times[index].exports.append(export.cpuSeconds)
        times[index].imports.append(again.cpuSeconds)
      }
      bench.workspace.remove(home)
    }
    var row = Row(.own)
    let floor = median(imports)
    row.add("XML import, processor time", medianOf: imports, .seconds)
    for (format, times) in zip(Self.formats, times) {
      row.add("\(format) export, processor time", medianOf: times.exports, .seconds)
      row.add("\(format) export / XML import", median(times.exports) / floor, .ratio, goal: .atMost(2))
      row.add("\(format) export, samples a second of it", Double(samples) / median(times.exports), .perSecond)
      row.add("\(format) import, processor time", medianOf: times.imports, .seconds)
      row.add("\(format) import / XML import", median(times.imports) / floor, .ratio, goal: .atMost(2))
    }
    return row
  }
}
