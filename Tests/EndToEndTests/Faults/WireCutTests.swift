import Foundation
import Testing

/// Tests in which the cable between two hosts is cut during a pull. The cable is slow, so that the cut comes in the
/// middle.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.netemObstacle == nil, "a slow cable needs: \(TwoHosts.netemObstacle ?? "")"))
struct WireCutTests {
  /// A pull that has committed a part, but not everything.
  private struct Middle {
    var hosts: TwoHosts
    var pull: RunningCommand
    var total: Int
  }

  private func pullInTheMiddle(timeout: Int) async throws -> Middle {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.huge)
    _ = try await hosts.studio.serve(["--name", "studio"])
    let (code, _) = try await hosts.studio.openWindow()
    let paired = try await hosts.laptop.run("pair", "studio", "--code-stdin", input: code)
    try #require(paired.status == 0, "\(paired.errors)")
    let total = try await hosts.studio.sampleCount()
    // A short queue, so that the server has not handed over everything when the first batch has arrived.
    try await hosts.control("netem", "rate", "4mbit", "limit", "50")
    let pull = try hosts.laptop.start(["pull", "--timeout", String(timeout), "--json"])
    let count = try await eventually("a part has arrived") {
      let count = try await hosts.laptop.sampleCount()
      return count > 0 ? count : nil
    }
    try #require(count < total, "the export is too small to be interrupted")
    return Middle(hosts: hosts, pull: pull, total: total)
  }

  @Test("a cut of a second is waited out by the same pull")
  func short() async throws {
    let middle = try await pullInTheMiddle(timeout: 60)
    try await middle.hosts.control("link", "down")
    // How long the cut lasts, whatever happens meanwhile.
    try await Task.sleep(for: .seconds(1))
    try await middle.hosts.control("link", "up")
    let outcome = try await middle.pull.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try outcome.json()["added"] as? Int == middle.total)
    #expect(try outcome.json()["requests"] as? Int == 1)
    #expect(try await middle.hosts.laptop.contents() == middle.hosts.studio.contents())
  }

  @Test("a cut for good ends the pull with what happened; plugged in again, the next brings the rest and no more")
  func forGood() async throws {
    let middle = try await pullInTheMiddle(timeout: 3)
    let hosts = middle.hosts
    try await hosts.control("link", "down")
    let outcome = try await middle.pull.outcome()
    #expect(outcome.status == 12, "\(outcome.errors)")
    #expect(outcome.errors.contains("said nothing for 3 seconds"), "\(outcome.errors)")
    let saved = try #require(outcome.errors.firstMatch(of: #/([\d,]+) changes arrived and are saved/#))
    let before = try #require(Int(saved.1.replacing(",", with: "")))
    #expect(try await hosts.laptop.sampleCount() == before)
    #expect(before < middle.total)

    try await hosts.control("link", "up")
    try await eventually("the server is rid of the connection") {
      let established = try await hosts.studio.sh("ss --no-header --tcp --numeric state established sport = :8737")
      return established.status == 0 && established.output.isEmpty ? true : nil
    }
    let rest = try await eventually("reachable again") {
      let rest = try await hosts.laptop.run("pull", "--json")
      return rest.status == 0 ? rest : nil
    }
    #expect(try rest.json()["added"] as? Int == middle.total - before)
    #expect(try rest.json()["unchanged"] as? Int == 0)
    #expect(try await hosts.laptop.contents() == hosts.studio.contents())
    let audit = try await hosts.studio.run("audit")
    #expect(audit.output.contains("complete=false"), "the reading that broke off is on record")
    for host in [hosts.studio, hosts.laptop] { #expect(try await host.run("audit", "verify").status == 0) }
  }
}
