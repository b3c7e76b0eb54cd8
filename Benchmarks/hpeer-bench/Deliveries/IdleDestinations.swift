import Foundation

/// A benchmark of an idle `hpeer run` that serves, follows a machine and has ten destinations with nothing to
/// deliver.
struct IdleDestinations {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let server = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.small))
    let home = try await bench.homes.client(port: server.port)
    _ = try await bench.program.run(["pull"], home: home, in: bench.workspace)
    var lines: [String] = []
    for number in 1...10 {
      let place = "\(home)/place-\(number)"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      // One type each, so that the first delivery is soon done.
      lines += ["[destination.place-\(number)]", "kind = \"folder\"", "path = \"\(place)\"", "types = [\"bodyMass\"]"]
    }
    try TimedDelivery.write(lines, to: home)
    _ = try await bench.program.run(["sync", "--json"], home: home, in: bench.workspace)
    let run = try Service(
      bench.program, ["run", "--bind", "127.0.0.1", "--port", "0", "--name", "idle", "--no-advertise"], home: home,
      in: bench.workspace)
    _ = try await run.errors(matching: #/on port (\d+)/#)
    // What is done once, at the beginning, is over.
    try await Task.sleep(for: .seconds(bench.sizes.idle))
    let (before, started) = (run.running.processorTime, ContinuousClock.now)
    let seconds = bench.sizes.isQuick ? 3 : 60
    Log.say("  nothing happens for \(seconds) s")
    try await Task.sleep(for: .seconds(seconds))
    let used = run.running.processorTime - before
    let share = used / started.duration(to: .now).seconds
    let peak = Double(run.running.peak) / 1_048_576
    try await run.stop()
    try await server.service.stop()
    bench.workspace.remove(home)
    var row = Row(.idle)
    row.add("share of a processor", share * 100, .percent, goal: .atMost(0.1))
    row.add("peak memory", peak, .mebibytes, goal: .atMost(96))
    return row
  }
}
