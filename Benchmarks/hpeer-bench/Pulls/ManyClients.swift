/// A benchmark of eight clients that pull the whole store at the same time, compared with a single client.
struct ManyClients {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let server = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.shared))
    var alone: [Double] = []
    var together: [Double] = []
    var spreads: [Double] = []
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let one = try await TimedPull(bench, server: server)
      var homes: [String] = []
      for index in 0..<Homes.clients { homes.append(try await bench.homes.client(index, port: server.port)) }
      bench.workspace.settle()
      let started = ContinuousClock.now
      let all = try await withThrowingTaskGroup(of: TimedPull.self) { group in
        for home in homes { group.addTask { try await TimedPull(bench, server: server, home: home) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let seconds = started.duration(to: .now).seconds
      for home in homes { bench.workspace.remove(home) }
      guard round >= bench.sizes.warmUps else { continue }
      alone.append(one.rate)
      together.append(Double(all.reduce(0) { $0 + $1.added }) / seconds)
      let times = all.map(\.seconds)
      spreads.append((times.max() ?? .nan) / (times.min() ?? .nan))
    }
    try await server.service.stop()
    var row = Row(.clients)
    row.add("one client, \(bench.sizes.shared) samples", medianOf: alone, .perSecond)
    row.add("\(Homes.clients) clients, all together", medianOf: together, .perSecond)
    row.add("all together / one", median(together) / median(alone), .ratio, goal: .atLeast(1))
    row.add("the slowest / the fastest", medianOf: spreads, .ratio, goal: .atMost(2))
    return row
  }
}
