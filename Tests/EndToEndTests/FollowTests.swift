import Foundation
import HealthStore
import Testing

/// Tests of `hpeer pull --watch`: changes on a machine reach the other within moments, for as long as the command
/// runs.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FollowTests {
  /// Starts to follow and waits until the client is up to date.
  private func follow(_ host: Host, _ arguments: [String] = []) async throws -> RunningCommand {
    let following = try host.start(["pull", "--watch"] + arguments)
    try await following.errors(matching: #/up to date/#)
    return following
  }

  private func untilEqual(_ laptop: Host, _ studio: Host) async throws {
    let wanted = try await studio.everything()
    let store = try HealthStore(directory: laptop.home, create: false)
    // Its own counts agree with its feed only when nothing is written between the two.
    try await eventually("the laptop has as much as the studio") {
      let page = try await store.feed.changes(since: .zero, limit: 100_000)
      return page.changes.count == wanted.samples.count + wanted.deleted.count ? true : nil
    }
    try await eventually("the laptop has the same as the studio") {
      try await store.samples.typeCounts().reduce(0) { $0 + $1.samples } == wanted.samples.count ? true : nil
    }
    try await laptop.expect(wanted, after: "following")
  }

  /// Returns the number of clients' requests in the audit log.
  private func requests(_ studio: Host) async throws -> Int {
    try await events(studio).count { ["data.read", "read.started", "follow.started"].contains($0) }
  }

  /// Returns the names of all events in the audit log.
  private func events(_ studio: Host) async throws -> [String] {
    try await HealthStore(directory: studio.home, create: false).audit.records().map(\.event)
  }

  @Test("an import by another process arrives, doubling nothing; nothing is said or written while nothing happens")
  func importing() async throws {
    let homes = try await PairedHomes(export: .small)
    let (_, port) = try await homes.serve()
    try await homes.remember(port: port)
    let following = try await follow(homes.laptop, ["--timeout", "6"])
    try await homes.laptop.expect(homes.contents, after: "catching up")

    // Each wait is a second long: several come and go.
    try await eventually("it waits") {
      try await events(homes.studio).contains("follow.started") ? true : nil
    }
    let (output, errors, read) = (following.output, following.errors, try await requests(homes.studio))
    try await Task.sleep(for: .seconds(4))
    #expect(following.output == output)
    #expect(following.errors == errors)
    #expect(try await requests(homes.studio) == read)

    #expect(try await homes.studio.run("import", SampleExport.smallLater.path).status == 0)
    try await untilEqual(homes.laptop, homes.studio)
    let deleting = ["delete", "--type", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await homes.studio.start(deleting).outcome().status == 0)
    try await untilEqual(homes.laptop, homes.studio)

    following.send(SIGINT)
    let outcome = try await following.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").last?.hasPrefix("Followed studio for ") == true, "\(outcome.errors)")
    #expect(
      outcome.output.split(separator: "\n").allSatisfy {
        $0.contains(#/^studio: [\d,]+ added, [\d,]+ deleted, 0 unchanged/#)
      })
    #expect(try await homes.studio.run("audit", "verify").status == 0)
    #expect(try await homes.laptop.run("audit", "verify").status == 0)
  }

  @Test("a server that is killed and started again is found again; what came in between is not lost; --json counts it")
  func restart() async throws {
    let homes = try await PairedHomes(export: .small)
    let (server, port) = try await homes.serve()
    try await homes.remember(port: port)
    let following = try await follow(homes.laptop, ["--json"])
    try await server.end()
    try await following.errors(matching: #/studio: contact lost/#)
    #expect(try await homes.studio.run("import", SampleExport.smallLater.path).status == 0)
    let again = try homes.studio.start(
      ["serve", "--port", "\(port)", "--no-advertise", "--bind", "127.0.0.1", "--name", "studio"])
    try await again.errors(matching: #/on port (\d+)/#)
    try await untilEqual(homes.laptop, homes.studio)
    try await following.errors(matching: #/studio: back/#)

    // A server that is stopped in good order does not wait for those who wait.
    again.send(SIGTERM)
    let stopped = try await again.outcome(within: .seconds(30))
    #expect(stopped.status == 0)
    #expect(stopped.errors.contains("Goodbye"))
    try await eventually("the second loss is told") {
      following.errors.split(separator: "\n").count { $0.contains("contact lost") } == 2 ? true : nil
    }
    following.send(SIGTERM)
    let outcome = try await following.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count { $0.contains("contact lost") } == 2, "\(outcome.errors)")
    var added = 0
    for line in outcome.output.split(separator: "\n") {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["peer"] as? String == "studio")
      #expect(object["unchanged"] as? Int == 0)
      added += try #require(object["added"] as? Int)
    }
    let held = try await homes.laptop.sampleCount()
    // The later export takes the place of a few samples.
    #expect(added >= held && added < held + 50, "\(added) added, \(held) held")
  }

  /// Returns a laptop that is paired with two servers, the studio and the attic.
  private func pairedWithTwo(atticHolds export: SampleExport) async throws -> (homes: PairedHomes, attic: Host) {
    let homes = try await PairedHomes(export: .small)
    let attic = homes.scratch.host("attic")
    try await attic.hold(export)
    let (_, port) = try await homes.serve()
    try await homes.remember(port: port)
    let (_, atticPort) = try await attic.serve([
      "--port", "0", "--no-advertise", "--bind", "127.0.0.1", "--name", "attic",
    ])
    let (code, _) = try await attic.openWindow()
    let paired = try await homes.laptop.run("pair", "--host", "127.0.0.1:\(atticPort)", "--code-stdin", input: code)
    try #require(paired.status == 0, "\(paired.errors)")
    return (homes, attic)
  }

  @Test("--all follows each; one that refuses is named and does not end the others; a revoked machine ends with 4")
  func all() async throws {
    let (homes, attic) = try await pairedWithTwo(atticHolds: .smallLater)

    let following = try homes.laptop.start(["pull", "--watch", "--all", "--timeout", "6"])
    for name in ["studio", "attic"] { try await following.errors(matching: try Regex("\(name): up to date")) }
    let clients = try await homes.studio.run("peers", "--json")
    #expect(clients.status == 0)
    #expect(
      try await homes.studio.sh("HPEER_HOME=\(homes.studio.home) \(Build.hpeer) revoke \"$(hostname -s)\"").status == 0)
    try await following.errors(matching: #/studio: .* does not accept this machine any more/#)
    let deleting = ["delete", "--type", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await attic.start(deleting).outcome().status == 0)
    try await eventually("the deletion arrives") { following.output.contains(#/attic: 0 added, [1-9]/#) ? true : nil }
    #expect(try await attic.sh("HPEER_HOME=\(attic.home) \(Build.hpeer) revoke \"$(hostname -s)\"").status == 0)
    #expect(try await following.outcome().status == 4)
  }

  @Test("when whoever reads the output has gone, it ends as other commands do; that is no failure of a machine")
  func readerGone() async throws {
    let (homes, _) = try await pairedWithTwo(atticHolds: .small)
    for options in ["--watch --timeout 6", "", "--json"] {
      // Waits until nothing reads the pipe any more.
      let pull = "exec 3>&1; sleep 1; HPEER_HOME='\(homes.laptop.home)' exec '\(Build.hpeer)' pull --all \(options)"
      let outcome = try await homes.laptop.sh("(\(pull)) | true; exit ${PIPESTATUS[0]}")
      #expect(outcome.status == 0, "\(options): \(outcome.errors)")
      #expect(!outcome.errors.contains("reading this output"), "\(options): \(outcome.errors)")
    }
    #expect(try await !events(homes.laptop).contains("pull.failed"))
  }

  @Test("a silence that is shorter than any wait is a usage error")
  func usage() async throws {
    let scratch = try Scratch()
    let outcome = try await scratch.host("laptop").run("pull", "--watch", "--timeout", "4")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("at least 5 seconds"))
  }

  @Test(
    "another address of the server's: it is found again by itself",
    .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
  func moving() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)
    let following = try await follow(hosts.laptop, ["--timeout", "6"])
    try await hosts.moveStudio()
    #expect(try await hosts.studio.run("import", SampleExport.smallLater.path).status == 0)
    try await untilEqual(hosts.laptop, hosts.studio)
    try await following.errors(matching: #/studio: back/#)
    following.send(SIGTERM)
    #expect(try await following.outcome().status == 0)
    #expect(try await hosts.laptop.run("peers").output.contains("10.77.0.9:"))
  }
}
