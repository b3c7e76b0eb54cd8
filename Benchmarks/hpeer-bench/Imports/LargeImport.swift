/// Time and the highest resident memory for about 100 MB of XML, for the usual export, and for ten times as much.
struct LargeImport {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    var row = Row(.large)
    let sizes = [bench.sizes.smallExport, bench.sizes.samples, bench.sizes.largeExport]
    var (peaks, each): ([Double], [Double]) = ([], [])
    for records in sizes {
      let file = try await bench.exports.file(of: records)
      Log.say("  importing \(records) records")
      let home = bench.exports.home()
      let timed = try await TimedImport(bench, file.path, into: home, watchesMemory: true)
      bench.workspace.remove(home)
      peaks.append(Double(timed.peak) / 1_048_576)
      each.append(timed.seconds / Double(timed.samples))
      let megabytes = file.bytes / 1_000_000
      row.add("\(records) records, \(megabytes) MB of XML", timed.seconds, .seconds)
      row.add("\(records) records, peak memory", peaks.last ?? .nan, .mebibytes, goal: .atMost(96))
    }
    row.add("time a sample, largest / usual", each[2] / each[1], .ratio, goal: .atMost(1.2))
    row.add("peak memory, largest / smallest", peaks[2] / peaks[0], .ratio, goal: .atMost(1.1))
    return row
  }
}
