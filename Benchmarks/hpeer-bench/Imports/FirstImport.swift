import OperatingSystem

/// A benchmark of the import of a zip file into a new store, compared with a bare SQLite insert of the same rows in
/// the same order.
struct FirstImport {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  /// The numbers of rows per transaction of the bare insert. The faster variant is the baseline.
  private static let transactions = [10_000, 100_000]

  func measure() async throws -> Row {
    let file = try await bench.exports.file(of: bench.sizes.samples)
    let model = bench.exports.home()
    _ = try await TimedImport(bench, file.path, into: model)
    let floor = try await onThread { _ in try BareInsert(rowsOf: model) }
    bench.workspace.remove(model)
    var bare: [[Double]] = Self.transactions.map { _ in [] }
    var bareCPU: [Double] = []
    var imports: [TimedImport] = []
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      var inserts: [(seconds: Double, cpuSeconds: Double)] = []
      for transaction in Self.transactions {
        bench.workspace.settle()
        let directory = bench.workspace.fresh("floor")
        inserts.append(try await onThread { _ in try floor.run(transaction: transaction, in: directory) })
      }
      let home = bench.exports.home()
      let timed = try await TimedImport(bench, file.path, into: home)
      bench.workspace.remove(home)
      guard timed.added == floor.count else {
        throw BenchFailure("The import added \(timed.added) samples of \(floor.count).")
      }
      guard round >= bench.sizes.warmUps else { continue }
      for (index, insert) in inserts.enumerated() { bare[index].append(insert.seconds) }
      bareCPU.append(inserts.map(\.cpuSeconds).min() ?? .nan)
      imports.append(timed)
    }
    var row = Row(.first)
    for (transaction, seconds) in zip(Self.transactions, bare) {
      row.add("bare insert, \(transaction / 1000),000 rows a transaction", medianOf: seconds, .seconds)
    }
    row.add("import, from process start to exit", medianOf: imports.map(\.seconds), .seconds)
    let best = bare.map(median).min() ?? .nan
    row.add("import / the faster bare insert", median(imports.map(\.seconds)) / best, .ratio, goal: .atMost(1.25))
    row.add("samples", medianOf: imports.map { Double($0.added) / $0.seconds }, .perSecond)
    row.add("XML", Double(file.bytes) / Double(floor.count), .bytesPerSample)
    let each = 1_000_000 / Double(floor.count)
    row.add("processor time a sample: bare insert", medianOf: bareCPU.map { $0 * each }, .microseconds)
    row.add(
      "processor time a sample: import", medianOf: imports.map { $0.cpuSeconds * each }, .microseconds)
    return row
  }
}
