import Foundation
import HealthModel
import HealthStore
import TestSupport

/// A benchmark of pulls after a sample was added and after nothing changed, from a small store and from a large
/// store.
struct IncrementalPull {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  /// A store, its server, and a client that has pulled everything.
  private struct Side {
    let count: Int
    let store: HealthStore
    let server: Server
    let client: String
    var one: [Double] = []
    var none: [Double] = []
    var requests = 0
    var wireOfOne = Relay.Counts()
    var wireOfNone = Relay.Counts()
  }

  func measure() async throws -> Row {
    var sides: [Side] = []
    for count in [bench.sizes.small, bench.sizes.large] {
      let home = try await bench.homes.server(of: count)
      let server = try await Server(bench, home: home)
      let client = try await bench.homes.pulled(count, port: server.port)
      let side = Side(count: count, store: try HealthStore(directory: home), server: server, client: client)
      // A kept client may have missed what an earlier run added.
      _ = try await pull(side)
      sides.append(side)
    }
    var starts: [Double] = []
    for round in 0..<bench.sizes.warmUps + bench.sizes.shortRepeats {
      let start = try await bench.program.run(["--version"], home: bench.workspace.path, in: bench.workspace)
      if round >= bench.sizes.warmUps { starts.append(start.seconds * 1000) }
      for index in sides.indices {
        let one = try await pullOne(sides[index])
        let none = try await pull(sides[index])
        guard none.added == 0 else { throw BenchFailure("A pull of nothing new added something.") }
        guard round >= bench.sizes.warmUps else { continue }
        sides[index].one.append(one.milliseconds)
        sides[index].none.append(none.milliseconds)
        sides[index].requests = none.requests
      }
    }
    for index in sides.indices { try await count(&sides[index]) }
    for side in sides { try await side.server.service.stop() }
    var row = Row(.incremental)
    row.add("hpeer --version, for comparison", medianOf: starts, .milliseconds)
    describe(sides, in: &row)
    return row
  }

  private func describe(_ sides: [Side], in row: inout Row) {
    for side in sides {
      row.add("one change, store of \(side.count)", medianOf: side.one, .milliseconds, goal: .atMost(60))
    }
    let ratio = median(sides[1].one) / median(sides[0].one)
    row.add("one change, the larger store / the smaller", ratio, .ratio, goal: .atMost(1.2))
    for side in sides {
      row.add(
        "one change, store of \(side.count), on the wire", Double(side.wireOfOne.bytes), .bytes, goal: .atMost(4096))
    }
    for side in sides {
      row.add("nothing new, store of \(side.count)", medianOf: side.none, .milliseconds, goal: .atMost(50))
    }
    row.add("nothing new: requests", Double(sides[1].requests), .count, goal: .atMost(1))
    row.add("nothing new: connections", Double(sides[1].wireOfNone.connections), .count, goal: .atMost(1))
    row.add("nothing new: on the wire", Double(sides[1].wireOfNone.bytes), .bytes)
  }

  private func pullOne(_ side: Side) async throws -> (milliseconds: Double, added: Int, requests: Int) {
    try await side.store.apply(ChangeBatch(additions: [.now]))
    let result = try await pull(side)
    guard result.added == 1 else { throw BenchFailure("A pull of one change added \(result.added).") }
    return result
  }

  private func pull(_ side: Side) async throws -> (milliseconds: Double, added: Int, requests: Int) {
    let outcome = try await bench.program.run(["pull", "--json"], home: side.client, in: bench.workspace)
    let report = try outcome.json()
    return (outcome.seconds * 1000, report["added"] as? Int ?? -1, report["requests"] as? Int ?? -1)
  }

  /// Counts the bytes of a pull. This is a separate pull, because counting takes time.
  private func count(_ side: inout Side) async throws {
    let relay = try Relay(to: side.server.port)
    try await bench.homes.point(side.client, to: relay.port)
    _ = try await pullOne(side)
    side.wireOfOne = relay.take()
    _ = try await pull(side)
    side.wireOfNone = relay.take()
  }
}

extension Sample {
  /// A heart rate at the current time.
  static var now: Sample {
    Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: .now, end: .now, created: .now,
      source: Source(name: "Bench"), metadata: ["HKMetadataKeyHeartRateMotionContext": .integer(1)],
      payload: .quantity(Quantity(61, "count/min")))
  }
}
