import Foundation

/// A benchmark of an import that is killed, as by a power failure, and repeated.
struct KilledImport {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let file = try await bench.exports.file(of: bench.sizes.samples)
    let reference = bench.exports.home()
    let whole = try await TimedImport(bench, file.path, into: reference)
    let expected = try await digest(of: reference)
    bench.workspace.remove(reference)
    let shares = bench.sizes.isQuick ? [0.5] : [0.15, 0.3, 0.5, 0.7, 0.9]
    var (equal, found, again): (Int, [Double], [Double]) = (0, [], [])
    for share in shares {
      Log.say("  killing at \(Int(share * 100)) %")
      let home = bench.exports.home()
      let killed = try Service(bench.program, ["import", file.path], home: home, in: bench.workspace)
      try await Task.sleep(for: .seconds(whole.seconds * share))
      try await killed.stop(SIGKILL)
      let timed = try await TimedImport(bench, file.path, into: home)
      if try await digest(of: home) == expected { equal += 1 }
      found.append(1 - Double(timed.added) / Double(whole.added))
      again.append(timed.seconds)
      bench.workspace.remove(home)
    }
    var row = Row(.kill)
    row.add("undisturbed", whole.seconds, .seconds)
    row.add("again after a kill", medianOf: again, .seconds)
    row.add("what was there already", medianOf: found, .ratio)
    row.add(
      "stores like the undisturbed one, of \(shares.count)", Double(equal), .count,
      goal: .atLeast(Double(shares.count)))
    return row
  }

  private func digest(of home: String) async throws -> String {
    try await bench.program.run(["digest", "--months", "--deep"], home: home, in: bench.workspace).output
  }
}
