/// A benchmark of the peak memory of both sides during a full pull, for a store and for a store five times as large.
struct PeakMemory {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    var row = Row(.memory)
    var peaks: [(client: Double, server: Double)] = []
    for count in [bench.sizes.samples, bench.sizes.large] {
      let server = try await Server(bench, home: try await bench.homes.server(of: count))
      Log.say("  pulling \(count) samples")
      let home = try await bench.homes.client(port: server.port)
      bench.workspace.settle()
      let pull = try await TimedPull(bench, server: server, home: home, watchesMemory: true)
      try bench.homes.keep(home, asPulled: count)
      peaks.append((Double(pull.clientPeak) / 1_048_576, Double(server.service.running.peak) / 1_048_576))
      try await server.service.stop()
      row.add("rate with \(count) samples", pull.rate, .perSecond)
    }
    for (index, count) in [bench.sizes.samples, bench.sizes.large].enumerated() {
      row.add("client, \(count) samples", peaks[index].client, .mebibytes, goal: .atMost(96))
      row.add("server, \(count) samples", peaks[index].server, .mebibytes, goal: .atMost(96))
    }
    row.add("client, the larger / the smaller", Self.ratio(peaks.map(\.client)), .ratio, goal: .atMost(1.1))
    row.add("server, the larger / the smaller", Self.ratio(peaks.map(\.server)), .ratio, goal: .atMost(1.1))
    return row
  }

  private static func ratio(_ values: [Double]) -> Double { (values.max() ?? .nan) / (values.min() ?? .nan) }
}
