import Foundation
import Testing

/// Tests of a pull that is killed, disconnected or out of disk space, and then repeated: the content is the same, and
/// nothing is duplicated.
@Suite(
  .serialized, .timeLimit(.minutes(15)),
  .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
struct InterruptionTests {
  /// Returns a serving studio with a large import, and the laptop, which is paired but has not pulled yet.
  private func pairedHosts() async throws -> (TwoHosts, server: RunningCommand) {
    let hosts = try await TwoHosts()
    // While the client is stopped, the server would hand over all that it has to buffers of many megabytes: then neither
    // its end nor that of the cable interrupts anything. See tcp(7).
    let limit = "for kind in rmem wmem; do echo 4096 65536 131072 >/proc/sys/net/ipv4/tcp_$kind || exit 1; done"
    for host in [hosts.studio, hosts.laptop] { try #require(try await host.sh(limit).status == 0) }
    try await hosts.studio.hold(.huge)
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    let (code, _) = try await hosts.studio.openWindow()
    let paired = try await hosts.laptop.run("pair", "studio", "--code-stdin", input: code)
    #expect(paired.status == 0, "\(paired.errors)")
    return (hosts, server)
  }

  /// Starts a pull and stops it when it has committed more than there was, but not everything.
  private func pullInTheMiddle(_ hosts: TwoHosts) async throws -> HeldCommand {
    let before = try await hosts.laptop.committedSamples()
    let pull = try await HeldCommand(["pull"], on: hosts.laptop) { try await hosts.laptop.committedSamples() > before }
    try #require(
      try await hosts.laptop.committedSamples() < hosts.studio.committedSamples(),
      "the export is too small to be interrupted")
    return pull
  }

  private func expectCompletion(_ hosts: TwoHosts) async throws {
    let again = try await hosts.laptop.run("pull")
    #expect(again.status == 0, "\(again.errors)")
    #expect(try await hosts.studio.contents() == hosts.laptop.contents())
    #expect(try await hosts.laptop.run("audit", "verify").status == 0)
    #expect(try await hosts.studio.run("audit", "verify").status == 0)
  }

  @Test("the client is killed, three times over")
  func killClient() async throws {
    let (hosts, _) = try await pairedHosts()
    for _ in 1...3 {
      try await pullInTheMiddle(hosts).command.end()
    }
    try await expectCompletion(hosts)
  }

  @Test("the server is killed")
  func killServer() async throws {
    let (hosts, server) = try await pairedHosts()
    let pull = try await pullInTheMiddle(hosts)
    try await server.end()
    try pull.release()
    let outcome = try await pull.command.outcome()
    #expect(outcome.status == 12)
    #expect(outcome.errors.contains("saved"))
    _ = try await hosts.studio.serve(["--name", "studio"])
    try await expectCompletion(hosts)
  }

  @Test("the cable is unplugged for good, then plugged in again")
  func cutLink() async throws {
    let (hosts, _) = try await pairedHosts()
    let pull = try await pullInTheMiddle(hosts)
    try await hosts.control("link", "down")
    try pull.release()
    let outcome = try await pull.command.outcome()
    #expect(outcome.status == 12, "\(outcome.errors)")
    try await hosts.control("link", "up")
    try await eventually("reachable again") {
      try await hosts.laptop.run("pull", "--host", "10.77.0.1").status == 0 ? true : nil
    }
    try await expectCompletion(hosts)
  }

  @Test("Ctrl-C: exit code 130, and the next pull goes on")
  func interrupt() async throws {
    let (hosts, _) = try await pairedHosts()
    let pull = try await pullInTheMiddle(hosts)
    try pull.release(with: SIGINT)
    let outcome = try await pull.command.outcome()
    #expect(outcome.status == 130)
    #expect(outcome.errors.contains("saved"))
    try await expectCompletion(hosts)
  }

  @Test("the client's disk fills up, then has room again")
  func fullDisk() async throws {
    let (hosts, _) = try await pairedHosts()
    let room = try await hosts.laptop.sh(
      """
      cp -a '\(hosts.laptop.home)' '\(hosts.laptop.home).kept' && mount -t tmpfs -o size=3m,mode=700 tmpfs '\(hosts.laptop.home)' &&
      cp -a '\(hosts.laptop.home).kept/.' '\(hosts.laptop.home)/'
      """)
    try #require(room.status == 0, "\(room.errors)")
    let outcome = try await hosts.laptop.run("pull")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("make room, then run the same command again"), "\(outcome.errors)")
    let more = try await hosts.laptop.sh("mount -o remount,size=200m '\(hosts.laptop.home)'")
    try #require(more.status == 0)
    #expect(try await hosts.laptop.run("pull").status == 0)
    // The tmpfs is the host's own: bring it where the test can look.
    let kept = hosts.scratch.path + "/copy"
    _ = try await hosts.laptop.sh("mkdir '\(kept)' && cp -a '\(hosts.laptop.home)/.' '\(kept)/'")
    #expect(try await Host(home: kept, scratch: hosts.scratch).contents() == hosts.studio.contents())
  }
}
