import Foundation
import Testing

/// Tests with two hosts whose cable loses, delays, repeats or reorders packets.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.netemObstacle == nil, "a bad cable needs: \(TwoHosts.netemObstacle ?? "")"))
struct WireImpairmentTests {
  @Test("over a bad cable a stranger is found, paired with and pulled from, and the next pull is quick to say: nothing")
  func everything() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    let expected = try await hosts.studio.contents()
    for (index, impairment) in [
      "loss 5%", "delay 10ms reorder 25% 50%", "duplicate 5%", "delay 200ms", "rate 1mbit",
      "delay 50ms 20ms loss 2% duplicate 2% reorder 10%",
    ].enumerated() {
      try await hosts.netem(impairment)
      var laptop = hosts.laptop
      // A laptop that has never been here.
      laptop = Host(home: laptop.home + String(index), scratch: hosts.scratch, prefix: laptop.prefix)
      let found = try await laptop.run("discover", "--json")
      #expect(found.output.contains(#""studio""#), "\(impairment): \(found.errors)")
      let (code, _) = try await hosts.studio.openWindow()
      let pulled = try await laptop.run("pull", "studio", "--code-stdin", "--json", input: code)
      #expect(pulled.status == 0, "\(impairment): \(pulled.errors)")
      #expect(try await laptop.contents() == expected, "\(impairment)")
      let again = try await laptop.run("pull", "--json")
      #expect(again.status == 0, "\(impairment): \(again.errors)")
      #expect(try again.json()["added"] as? Int == 0)
    }
  }

  @Test("a machine whose last address is dead is found at its other one")
  func deadAddress() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    #expect(try await hosts.studio.sh("ip address add 10.77.0.5/24 dev eth0").status == 0)
    _ = try await hosts.studio.serve(["--name", "studio"])
    let (code, _) = try await hosts.studio.openWindow()
    let paired = try await hosts.laptop.run("pair", "--host", "10.77.0.5", "--code-stdin", input: code)
    try #require(paired.status == 0, "\(paired.errors)")
    #expect(try await hosts.studio.sh("ip address del 10.77.0.5/24 dev eth0").status == 0)
    // Nobody there even says that nobody is there.
    let mute = "ip neigh replace 10.77.0.5 lladdr 02:00:00:00:00:05 dev eth0"
    #expect(try await hosts.laptop.sh(mute).status == 0)
    let pulled = try await hosts.laptop.run("pull", "--json")
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(try await hosts.laptop.contents() == hosts.studio.contents())
  }
}

extension TwoHosts {
  /// Runs `two-hosts netem` with these words, or with `off`.
  func netem(_ words: String) async throws {
    let outcome = try await RunningCommand(
      [Build.twoHosts, "netem", name] + words.split(separator: " ").map(String.init)
    )
    .outcome()
    try #require(outcome.status == 0, "two-hosts netem \(words): \(outcome.errors)")
  }
}
