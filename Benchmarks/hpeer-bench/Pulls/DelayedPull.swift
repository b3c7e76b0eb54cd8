import TestSupport

/// A benchmark of a full pull through a relay that adds 20 ms to each round trip, compared with a relay without
/// delay.
struct DelayedPull {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let server = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.samples))
    let near = try Relay(to: server.port)
    let far = try Relay(to: server.port, roundTrip: .milliseconds(20))
    var times: [[Double]] = [[], []]
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      for (index, relay) in [near, far].enumerated() {
        let pull = try await TimedPull(bench, server: server, port: relay.port)
        if round >= bench.sizes.warmUps { times[index].append(pull.seconds) }
      }
    }
    try await server.service.stop()
    var row = Row(.delay)
    row.add("through a relay, without delay", medianOf: times[0], .seconds)
    row.add("through a relay, 10 ms each way", medianOf: times[1], .seconds)
    row.add("with delay / without", median(times[1]) / median(times[0]), .ratio, goal: .atMost(1.3))
    return row
  }
}
