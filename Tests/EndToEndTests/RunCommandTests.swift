import Foundation
import Testing

/// Tests of `hpeer run`, which serves, follows and delivers in a single process, between two homes on loopback.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RunCommandTests {
  /// Returns the number of lines in a file to which a destination of the kind `command` has appended.
  private func lines(_ path: String) -> Int {
    (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").count ?? 0
  }

  @Test("what happens there comes here and is delivered on, settings are read again, and SIGTERM ends it in good order")
  func serveFollowAndDeliver() async throws {
    let homes = try await PairedHomes(export: .small)
    let (studio, laptop) = (homes.studio, homes.laptop)
    let (_, port) = try await homes.serve()
    #expect(try await laptop.start(["pull", "--host", "127.0.0.1:\(port)"]).outcome().status == 0)
    let (first, second) = (laptop.scratch.path + "/first.ndjson", laptop.scratch.path + "/second.ndjson")
    func section(_ name: String, _ file: String) -> String {
      """
      [destination.\(name)]
      kind = "command"
      command = ["/bin/sh", "-c", "cat >> '\(file)'"]
      types = ["stepCount"]

      """
    }
    let settings = URL(filePath: laptop.home + "/config.toml")
    try Data(section("first", first).utf8).write(to: settings)

    let run = try laptop.start(["run", "--no-serve"])
    let known = try await eventually("the first has everything", within: .seconds(60)) {
      lines(first) > 0 ? lines(first) : nil
    }
    // A later export there: it comes by following, and goes on at once.
    #expect(try await studio.run("import", SampleExport.smallLater.path).status == 0)
    try await eventually("what is new has been delivered", within: .seconds(60)) { lines(first) > known ? true : nil }

    try Data((section("first", first) + section("second", second)).utf8).write(to: settings)
    run.send(SIGHUP)
    try await eventually("the second has everything", within: .seconds(60)) { lines(second) > 0 ? true : nil }

    // Another that runs is told that this one does.
    let other = try await laptop.run("run", "--no-serve")
    #expect(other.status != 0 && !other.errors.isEmpty)
    run.send(SIGTERM)
    let outcome = try await run.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("Goodbye"))
  }

  @Test("hundreds of wake-ups later it has no more descriptors open and holds no more memory (scripts/lib/wake-ups)")
  func wakeUps() async throws {
    // A long run is measured with 5 %; what other tests do beside it moves a short one by more.
    let outcome = try await RunningCommand([Build.root + "/scripts/lib/wake-ups", Build.hpeer, "900", "25"])
      .outcome(within: .seconds(240))
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
  }
}
