import Foundation
import TestSupport
import Testing

/// Tests of `hpeer delete`, killed at any point.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct KillDeleteTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func trial(of export: SampleExport) async throws -> KillTrial {
    let template = scratch.host("template")
    try await template.hold(export)
    let command = ["delete", "--type", "heartRate", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    let reference = try template.copy("reference")
    #expect(try await reference.start(command).outcome().status == 0)
    return KillTrial(
      template: template, scratch: scratch, command: command, expected: try await reference.everything())
  }

  /// Kills the command at each point and expects that the audit log contains every deletion that happened.
  private func expectAudited(_ trial: KillTrial, _ points: [FaultyWrites.Point]) async throws -> Int {
    try await trial.run(points) { host, point in
      let look = try host.look()
      let deleted = try await look.everything().deleted.count
      let audited = try await look.auditEvents().filter { $0.event == "delete" }
        .compactMap { $0.detail["count"].flatMap { Int($0) } }.reduce(0, +)
      #expect(deleted == audited, "\(point)")
    }
  }

  @Test("killed around the transaction, and anywhere in it")
  func once() async throws {
    let trial = try await trial(of: .small)
    var random = SeededGenerator(seed: 41)
    let points = try await trial.log().points(24, using: &random)
    #expect(try await expectAudited(trial, points) >= 22)
  }

  /// Each transaction has 10,000 samples.
  @Test("killed between the transactions of a large deletion")
  func steps() async throws {
    let trial = try await trial(of: SampleExport("deletions", ["--records", "28000"]))
    let log = try await trial.log()
    try #require(log.commits.count >= 2)
    #expect(try await expectAudited(trial, Array(log.boundaries.prefix(6))) == 6)
  }
}
