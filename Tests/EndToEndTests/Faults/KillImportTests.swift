import Foundation
import TestSupport
import Testing

/// Tests of `hpeer import`, killed at any point.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct KillImportTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func trial(of export: SampleExport) async throws -> KillTrial {
    let reference = scratch.host("reference")
    try await reference.hold(export)
    return KillTrial(
      template: nil, scratch: scratch, command: ["import", try await export.path],
      expected: try await reference.everything())
  }

  /// The points cover a whole first run: files, tables, a batch, the audit log and the last checkpoint.
  @Test("killed at its writes, the first import of all")
  func firstImport() async throws {
    let trial = try await trial(of: .small)
    let log = try await trial.log()
    var random = SeededGenerator(seed: 11)
    try #require(!log.beginnings.isEmpty)
    let points = log.beginnings + log.points(55, using: &random)
    #expect(try await trial.run(points) > points.count * 3 / 4)
  }

  /// The number of batches depends on how often the reader is ahead of the writer, so a run may end before it reaches
  /// some of the points.
  @Test("killed around every batch of a long import")
  func batches() async throws {
    let trial = try await trial(of: SampleExport("batches", ["--records", "36000"]))
    let log = try await trial.log()
    try #require(log.batches.count >= 2)
    let points =
      (1...log.commits.count).flatMap { commit in
        [.before, .after].map { FaultyWrites.Point(call: commit, kind: $0, counted: .commits) }
      } + log.batches.map { FaultyWrites.Point(call: $0.number - 50, kind: .torn) }
    #expect(try await trial.run(points) > points.count / 2)
  }

  /// A later export replaces the days' summaries and leaves nothing of the earlier ones.
  @Test("killed while a later export replaces readings")
  func laterExport() async throws {
    let template = scratch.host("template")
    try await template.hold(.small)
    let later = try await SampleExport.smallLater.path
    let reference = try template.copy("reference")
    #expect(try await reference.run("import", later).status == 0)
    let trial = KillTrial(
      template: template, scratch: scratch, command: ["import", later], expected: try await reference.everything())
    let earlier = try await template.everything().samples
    #expect(earlier.contains { reference, sample in trial.expected.samples[reference].map { $0 != sample } ?? false })
    var random = SeededGenerator(seed: 12)
    let points = try await trial.log().points(12, using: &random)
    #expect(try await trial.run(points) > points.count / 2)
  }
}
