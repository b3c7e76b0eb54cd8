import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests of `hpeer pull`, killed at any point on the client.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct KillPullTests {
  private let homes: PairedHomes
  private let server: RunningCommand
  private let trial: KillTrial

  init() async throws {
    homes = try await PairedHomes(export: .medium, deleting: "stepCount")
    let port: Int
    (server, port) = try await homes.serve()
    try await homes.remember(port: port)
    trial = KillTrial(
      template: homes.laptop, scratch: homes.scratch, command: ["pull"], expected: homes.contents)
  }

  @Test("killed around every page, and anywhere between")
  func client() async throws {
    let log = try await trial.log()
    #expect(log.commits.count >= 5, "pages of 5,000, and the audit log")
    var random = SeededGenerator(seed: 21)
    let points = log.points(45, using: &random)
    // Pages that arrive while one is written share a transaction: one run may have hundreds of writes less than another.
    #expect(try await trial.run(points) > points.count / 2)
    #expect(try await homes.studio.run("audit", "verify").status == 0)
  }

  @Test("killed in the last write of a transaction: whole pages are there, and no part of one")
  func committedPages() async throws {
    let commits = try await trial.log().commits.count
    let total = homes.contents.samples.count + homes.contents.deleted.count
    let seen = Mutex<Set<Int>>([])
    let points = (1...commits).map { FaultyWrites.Point(call: $0, kind: .torn, counted: .commits) }
    let kills = try await trial.run(points) { host, point in
      let there = try await host.look().everything()
      let count = there.samples.count + there.deleted.count
      #expect(count == total || count % 5_000 == 0, "\(point): \(count)")
      seen.withLock { _ = $0.insert(count) }
    }
    #expect(kills >= commits - 1)
    #expect(seen.withLock { $0.isSuperset(of: [0, 5_000]) }, "the first page is always alone")
  }

  /// A power failure may leave only a part of the write-ahead log, or noise in place of its end.
  @Test("a write-ahead log that is cut off or spoilt at its end", arguments: [false, true])
  func spoiltLog(isNoise: Bool) async throws {
    let log = try await trial.log()
    var random = SeededGenerator(seed: isNoise ? 22 : 23)
    // Some that every run makes.
    let calls = log.beforeCheckpoint.dropLast(250).suffix(300)
    let points = (0..<6).map { _ in FaultyWrites.Point(call: random.pick(calls).number, kind: .before) }
    let cuts = points.map { _ in Double.random(in: 0..<1, using: &random) }
    let kills = try await trial.run(points) { host, point in
      let url = URL(fileURLWithPath: host.home + "/store.sqlite-wal")
      guard var bytes = try? Data(contentsOf: url), let index = points.firstIndex(of: point) else { return }
      let end = Int(Double(bytes.count) * cuts[index])
      bytes = isNoise ? bytes.prefix(end) + Data(repeating: 0x5A, count: bytes.count - end) : bytes.prefix(end)
      try bytes.write(to: url)
    }
    #expect(kills >= 4)
  }

  @Test("killed at random instants, again and again, until it is through")
  func instants() async throws {
    let first = try homes.laptop.copy("first")
    let start = ContinuousClock.now
    #expect(try await first.run("pull").status == 0)
    let undisturbed = ContinuousClock.now - start
    let laptop = try homes.laptop.copy("instants")
    var random = SeededGenerator(seed: 24)
    var kills = 0
    for _ in 0..<10 {
      let pull = try laptop.start(["pull"])
      try await Task.sleep(for: undisturbed * Double.random(in: 0...1, using: &random))
      pull.send(SIGKILL)
      if try await pull.outcome().status == 128 + SIGKILL { kills += 1 }
    }
    #expect(try await laptop.run("pull").status == 0)
    try await laptop.expect(homes.contents, after: "\(kills) kills")
  }
}
