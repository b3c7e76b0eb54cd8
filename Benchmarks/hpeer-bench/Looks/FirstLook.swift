/// A benchmark of the first query to a new store, which computes all statistics.
struct FirstLook {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let file = try await bench.exports.file(of: bench.sizes.large)
    var (imports, looks, peaks): ([Double], [Double], [Double]) = ([], [], [])
    for round in 0..<bench.sizes.repeats {
      Log.say("  round \(round + 1), importing \(bench.sizes.large) records")
      let home = bench.exports.home()
      imports.append(try await TimedImport(bench, file.path, into: home).seconds)
      bench.workspace.settle()
      let look = try await bench.program.run(
        ["stats", LookedAtHome.name, "--by", "year", "--json"], home: home, watchesMemory: true, in: bench.workspace)
      looks.append(look.seconds)
      peaks.append(Double(look.peak) / 1_048_576)
      bench.workspace.remove(home)
    }
    var row = Row(.build)
    row.add("import", medianOf: imports, .seconds)
    row.add("the first question", medianOf: looks, .seconds)
    row.add("first question / import", median(looks) / median(imports), .ratio, goal: .atMost(0.5))
    row.add("peak memory", medianOf: peaks, .mebibytes, goal: .atMost(96))
    return row
  }
}
