import Foundation
import TestSupport
import Testing

/// Tests of `hpeer import --undo`, killed at any point: either all of it has happened or nothing.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct KillUndoTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test("killed around the transaction, and anywhere in it")
  func anywhere() async throws {
    let template = scratch.host("template")
    #expect(try await template.run("import", SampleExport.small.path).status == 0)
    let before = try await template.everything()
    #expect(try await template.run("import", SampleExport.smallLater.path).status == 0)
    let imported = try await template.everything()
    #expect(imported != before)
    let command = ["import", "--undo"]
    let trial = KillTrial(template: template, scratch: scratch, command: command, expected: before)
    var random = SeededGenerator(seed: 51)
    let points = try await trial.log().points(20, using: &random)
    var outcomes: [Bool: Int] = [:]
    for point in points {
      let host = try trial.fresh()
      let environment = try FaultyWrites.environment(home: host.home, at: point)
      let killed = try await host.start(command, environment: environment).outcome()
      guard killed.status == 128 + SIGKILL else { continue }
      let isUndone = try await host.look().everything() == before
      outcomes[isUndone, default: 0] += 1
      try await host.expect(isUndone ? before : imported, after: point)
      let events = try await host.auditEvents().filter { $0.event == "import.undone" }
      #expect(events.count == (isUndone ? 1 : 0), "\(point)")
      let again = try await host.start(command).outcome()
      #expect(again.status == (isUndone ? 1 : 0), "\(point): \(again.errors)")
      try await host.expect(before, after: point)
    }
    #expect(outcomes.values.reduce(0, +) > points.count / 2)
    #expect(outcomes[false] ?? 0 > 0)
  }
}
