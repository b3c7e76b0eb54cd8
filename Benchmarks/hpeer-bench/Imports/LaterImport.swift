import BenchData

/// A benchmark of the import of the same person's export, made 30 days later.
struct LaterImport {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  /// The number of samples that may be replaced although nothing is new: those of the last day, which was not over.
  private static let drift = 2.0

  func measure() async throws -> Row {
    let file = try await bench.exports.file(of: bench.sizes.samples)
    let later = try await bench.exports.file(of: bench.sizes.samples, changes: [.new, .offset, .reordered])
    var (first, second, added): ([Double], [Double], [Double]) = ([], [], [])
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let home = bench.exports.home()
      let one = try await TimedImport(bench, file.path, into: home)
      let two = try await TimedImport(bench, later.path, into: home)
      bench.workspace.remove(home)
      guard round >= bench.sizes.warmUps else { continue }
      first.append(one.seconds)
      second.append(two.seconds)
      added.append(Double(two.added) / Double(one.added))
    }
    var row = Row(.later)
    row.add("first import", medianOf: first, .seconds)
    row.add("later export: 1 % new, another offset, other order", medianOf: second, .seconds)
    row.add("later / first", median(second) / median(first), .ratio, goal: .atMost(0.8))
    row.add("added / all that was there", medianOf: added, .ratio, goal: .atMost(0.025))
    try await addFalseNews(to: &row)
    return row
  }

  /// Checks that exports that only look different add nothing. The exports are small, because this tests correctness.
  private func addFalseNews(to row: inout Row) async throws {
    let records = min(bench.sizes.samples, 100_000)
    let first = try await bench.exports.file(of: records)
    let differences: [(MadeExport.Change, String)] = [
      (.offset, "another offset"), (.units, "miles"), (.reordered, "another order"), (.renamed, "a renamed watch"),
    ]
    for (change, name) in differences {
      let other = try await bench.exports.file(of: records, changes: [change])
      let home = bench.exports.home()
      _ = try await TimedImport(bench, first.path, into: home)
      let timed = try await TimedImport(bench, other.path, into: home)
      bench.workspace.remove(home)
      row.add("added by \(name) alone, of \(timed.samples)", Double(timed.added), .count, goal: .atMost(Self.drift))
    }
  }
}
