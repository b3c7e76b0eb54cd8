/// A benchmark of the time and peak memory for about 100 MB of XML, for the usual export, and for ten times as much.
struct LargeImport {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private struct Size {
    var records: Int
    var seconds: [Double] = []
    /// The times per sample, in seconds.
    var secondsEach: [Double] = []
    /// The peak memory, in mebibytes.
    var peaks: [Double] = []
  }

  func measure() async throws -> Row {
    var sizes = [bench.sizes.smallExport, bench.sizes.samples, bench.sizes.largeExport].map { Size(records: $0) }
    for round in 0..<bench.sizes.repeats {
      for (index, size) in sizes.enumerated() {
        let file = try await bench.exports.file(of: size.records)
        Log.say("  round \(round + 1), importing \(size.records) records")
        let home = bench.exports.home()
        let timed = try await TimedImport(bench, file.path, into: home, watchesMemory: true)
        bench.workspace.remove(home)
        sizes[index].seconds.append(timed.seconds)
        sizes[index].secondsEach.append(timed.seconds / Double(timed.samples))
        sizes[index].peaks.append(Double(timed.peak) / 1_048_576)
      }
    }
    var row = Row(.large)
    for size in sizes {
      let megabytes = try await bench.exports.file(of: size.records).bytes / 1_000_000
      row.add("\(size.records) records, \(megabytes) MB of XML", medianOf: size.seconds, .seconds)
      row.add("\(size.records) records, peak memory", medianOf: size.peaks, .mebibytes, goal: .atMost(96))
    }
    let (smallest, usual, largest) = (sizes[0], sizes[1], sizes[2])
    row.add(
      "time a sample, largest / usual", median(largest.secondsEach) / median(usual.secondsEach), .ratio,
      goal: .atMost(1.2))
    row.add(
      "peak memory, largest / smallest", median(largest.peaks) / median(smallest.peaks), .ratio, goal: .atMost(1.1))
    return row
  }
}
