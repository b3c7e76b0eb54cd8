import Foundation
import TestSupport
import Testing

/// `hpeer pull`, killed anywhere on the client's side.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct KillPullTests {
  private let homes: PairedHomes
  private let server: RunningCommand
  private let trial: KillTrial

  init() async throws {
    homes = try await PairedHomes(export: SampleExport.medium.value, deleting: "stepCount")
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
    #expect(try await trial.run(points) >= 42)
    #expect(try await homes.studio.run("audit", "verify").status == 0)
  }

  @Test("killed in the last write of a page: the pages before it are there")
  func committedPages() async throws {
    let log = try await trial.log()
    let pages = log.batches.map { $0.number + 1 }
    try #require(pages.count >= 2)
    let kills = try await trial.run(pages.map { .init(call: $0, kind: .torn) }) { host, point in
      let index = try #require(pages.firstIndex(of: point.call))
      let there = try await host.look().everything()
      #expect(there.samples.count + there.deleted.count == index * 5_000, "\(point)")
    }
    #expect(kills == pages.count)
  }

  /// What a power cut can leave of the write-ahead log: a part of it, or noise where the rest was.
  @Test("a write-ahead log that is cut off or spoilt at its end", arguments: [false, true])
  func spoiltLog(isNoise: Bool) async throws {
    let log = try await trial.log()
    var random = SeededGenerator(seed: isNoise ? 22 : 23)
    let calls = log.beforeCheckpoint.suffix(500)
    let points = (0..<6).map { _ in FaultyWrites.Point(call: random.pick(calls).number, kind: .before) }
    let cuts = points.map { _ in Double.random(in: 0..<1, using: &random) }
    let kills = try await trial.run(points) { host, point in
      let url = URL(fileURLWithPath: host.home + "/store.sqlite-wal")
      guard var bytes = try? Data(contentsOf: url), let index = points.firstIndex(of: point) else { return }
      let end = Int(Double(bytes.count) * cuts[index])
      bytes = isNoise ? bytes.prefix(end) + Data(repeating: 0x5A, count: bytes.count - end) : bytes.prefix(end)
      try bytes.write(to: url)
    }
    #expect(kills >= 5)
  }

  @Test("killed at random instants, again and again, until it is through")
  func instants() async throws {
    let laptop = try homes.laptop.copy("instants")
    var random = SeededGenerator(seed: 24)
    var kills = 0
    for _ in 0..<10 {
      let pull = try laptop.start(["pull"])
      try await Task.sleep(for: .milliseconds(Int.random(in: 20...500, using: &random)))
      pull.send(SIGKILL)
      if try await pull.outcome().status == 128 + SIGKILL { kills += 1 }
    }
    #expect(try await laptop.run("pull").status == 0)
    try await laptop.expect(homes.contents, after: "\(kills) kills")
  }
}
