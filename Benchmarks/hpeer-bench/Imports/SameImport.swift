/// A benchmark of a second import of the same file, with and without `--rescan`.
struct SameImport {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let file = try await bench.exports.file(of: bench.sizes.samples)
    let canRescan = try await bench.program.has("--rescan", of: "import", in: bench.workspace)
    var (first, again, rescans): ([Double], [Double], [Double]) = ([], [], [])
    var written = 0
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let home = bench.exports.home()
      let one = try await TimedImport(bench, file.path, into: home)
      let before = try counter(of: home)
      let two = try await TimedImport(bench, file.path, into: home)
      let three =
        canRescan ? try await TimedImport(bench, file.path, into: home, options: ["--rescan"]) : nil
      written = try counter(of: home) - before
      bench.workspace.remove(home)
      guard two.added == 0, two.deleted == 0, three?.added ?? 0 == 0, three?.deleted ?? 0 == 0 else {
        throw BenchFailure("The same export added or deleted something the second time.")
      }
      guard round >= bench.sizes.warmUps else { continue }
      first.append(one.seconds)
      again.append(two.seconds)
      if let three { rescans.append(three.seconds) }
    }
    var row = Row(.again)
    row.add("first import", medianOf: first, .seconds)
    row.add("the same file again", medianOf: again, .seconds, goal: .atMost(0.2))
    if canRescan {
      row.add("the same file again, --rescan", medianOf: rescans, .seconds)
      row.add("--rescan / first", median(rescans) / median(first), .ratio, goal: .atMost(0.7))
    } else {
      row.add("again / first (this hpeer has no --rescan)", median(again) / median(first), .ratio)
    }
    row.add("changes written", Double(written), .count, goal: .atMost(0))
    return row
  }

  /// Returns the number of changes that the store has recorded.
  private func counter(of home: String) throws -> Int {
    let database = try SQLite("\(home)/store.sqlite", readOnly: true)
    return Int(try database.text("SELECT counter FROM store")) ?? -1
  }
}
