import Foundation
import Testing

/// Tests in which avahi-daemon, D-Bus, the cable and addresses come and go while hpeer serves, discovers and pulls.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
struct DiscoveryFaultTests {
  private func isDiscovered(_ name: String, on host: Host) async throws -> Bool {
    try await host.run("discover", "--json", "--timeout", "2").output.contains("\"\(name)\"")
  }

  /// Returns how often a server has printed a text.
  private func count(_ text: String, in server: RunningCommand) -> Int {
    server.errors.split(separator: "\n").count { $0.contains(text) }
  }

  @Test("avahi-daemon late, restarted, and gone with its D-Bus: said once each time, and announced again")
  func serving() async throws {
    let hosts = try await TwoHosts()
    try await hosts.control("avahi", "studio", "stop")
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    #expect(count("Not announced", in: server) == 1)
    #expect(server.errors.contains("systemctl start avahi-daemon"))
    func announced(_ times: Int) async throws {
      try await eventually("announced \(times) times: \(server.errors)") {
        count("Announced on this network", in: server) == times ? true : nil
      }
    }
    try await hosts.control("avahi", "studio", "start")
    try await announced(1)
    try await eventually("discovered") { try await isDiscovered("studio", on: hosts.laptop) ? true : nil }
    try await hosts.control("avahi", "studio", "restart")
    try await announced(2)
    try await hosts.control("dbus", "studio", "restart")
    try await hosts.control("avahi", "studio", "start")
    try await announced(3)
    try await eventually("discovered again") { try await isDiscovered("studio", on: hosts.laptop) ? true : nil }
    // Once for each of the three times that it was away.
    #expect(count("Not announced", in: server) <= 3, "\(server.errors)")
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)
  }

  @Test("without D-Bus, and with a daemon that goes away while it is listened to")
  func looking() async throws {
    let hosts = try await TwoHosts()
    let looking = try hosts.laptop.start(["discover", "--timeout", "12"])
    // Long enough for it to be listening on most machines; what it says is the same if it is not yet.
    try await Task.sleep(for: .seconds(2))
    try await hosts.control("avahi", "laptop", "stop")
    let gone = try await looking.outcome()
    #expect(gone.status == 3)
    #expect(gone.errors.contains("avahi-daemon") && !gone.errors.contains("Nobody"), "\(gone.errors)")

    try await hosts.control("dbus", "laptop", "stop")
    let none = try await hosts.laptop.run("discover")
    #expect(none.status == 3)
    #expect(none.errors.contains("dbus") && none.errors.contains("--host"), "\(none.errors)")
    let (server, _) = try await hosts.laptop.serve(["--name", "laptop"])
    #expect(count("Not announced", in: server) == 1)
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)
  }

  @Test("a daemon that hangs: a sentence in time, Ctrl-C at once, known addresses work; and it may answer late")
  func hanging() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)
    let pid = "$(</run/avahi.pid)"
    #expect(try await hosts.laptop.sh("kill -STOP \(pid)").status == 0)

    let silent = try await hosts.laptop.run("discover", "--timeout", "2")
    #expect(silent.status == 3)
    #expect(silent.errors.contains("has not answered"), "\(silent.errors)")
    let unknown = try await hosts.laptop.run("pull", "attic")
    #expect(unknown.status == 3)
    #expect(unknown.errors.contains("has not answered"), "\(unknown.errors)")
    #expect(try await hosts.laptop.run("pull").status == 0)

    let endless = try hosts.laptop.start(["discover", "--timeout", "600"])
    try await Task.sleep(for: .seconds(1))
    endless.send(SIGINT)
    #expect(try await endless.outcome(within: .seconds(20)).status == 130)
    let server = try hosts.laptop.start(["serve", "--name", "laptop"])
    try await server.errors(matching: #/on port (\d+)/#)
    server.send(SIGTERM)
    #expect(try await server.outcome(within: .seconds(20)).status == 0)

    let late = try hosts.laptop.start(["discover", "--json", "--timeout", "15"])
    try await Task.sleep(for: .seconds(2))
    #expect(try await hosts.laptop.sh("kill -CONT \(pid)").status == 0)
    #expect(try await late.outcome().output.contains("\"studio\""))
  }

  @Test("a server with two addresses on one interface is reached at either, whichever of them doesn't answer")
  func twoAddresses() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    for host in [hosts.studio, hosts.laptop] {
      #expect(try await host.sh("echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6").status == 0)
    }
    #expect(try await hosts.studio.sh("ip address add 10.77.0.5/24 dev eth0").status == 0)
    _ = try await hosts.studio.serve(["--name", "studio"])
    try await eventually("both addresses are shown") {
      let shown = try await hosts.laptop.run("discover", "--json", "--timeout", "2").output
      return shown.contains("10.77.0.1\"") && shown.contains("10.77.0.5\"") ? true : nil
    }
    #expect(try await hosts.laptop.sh("ip route add blackhole 10.77.0.1/32").status == 0)
    let first = try await hosts.pairAndPull()
    #expect(first.status == 0, "\(first.errors)")
    #expect(
      try await hosts.laptop.sh("ip route del blackhole 10.77.0.1/32 && ip route add blackhole 10.77.0.5/32").status
        == 0)
    let second = try await hosts.laptop.run("pull", "studio")
    #expect(second.status == 0, "\(second.errors)")
  }

  @Test("the cable out and in, and another address, while serving and looking")
  func moving() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)

    let looking = try hosts.laptop.start(["discover", "--json", "--timeout", "12"])
    try await hosts.control("link", "down")
    try await hosts.control("link", "up")
    #expect(try await looking.outcome().output.contains("\"studio\""))

    try await hosts.moveStudio()
    let waiting = try hosts.studio.start(["pair", "--wait", "--pairing-json"])
    try await eventually("the payload has the new address") { waiting.output.contains("10.77.0.9") ? true : nil }
    #expect(!waiting.output.contains("10.77.0.1\""))
    waiting.send(SIGINT)

    let found = try await eventually("the pull finds it again") {
      let outcome = try await hosts.laptop.run("pull")
      return outcome.status == 0 ? outcome : nil
    }
    #expect(found.output.hasPrefix("studio: 0 added"))
    #expect(try await hosts.laptop.run("peers").output.contains("10.77.0.9:"))
    #expect(count("Not announced", in: server) == 0)
  }

  @Test("with link-local IPv6 alone: the address is shown, and the payload's name leads there")
  func linkLocalOnly() async throws {
    let hosts = try await TwoHosts()
    for host in [hosts.studio, hosts.laptop] {
      #expect(try await host.sh("ip -4 address flush dev eth0 && ip -4 route flush dev eth0").status == 0)
    }
    try await hosts.studio.hold(.small)
    let terminal = try PseudoTerminal(
      hosts.studio.prefix + ["env", "HPEER_HOME=\(hosts.studio.home)", Build.hpeer, "serve", "--name", "studio"])
    try await terminal.text(matching: #/Announced/#)
    #expect(
      try #/Sharing .* at\s+\[fe80::[0-9a-f:]+%eth0\]:8737/#.firstMatch(in: terminal.text) != nil, "\(terminal.text)")
    #expect(terminal.text.contains("hpeer pull --host studio.local\r"))

    let waiting = try hosts.studio.start(["pair", "--wait", "--pairing-json"])
    let payload = try await eventually("a payload") { waiting.output.contains("}\n") ? waiting.output : nil }
    #expect(payload.contains("\"host\":\"studio.local\""))
    let paired = try await hosts.laptop.run("pair", "-", input: payload)
    #expect(paired.status == 0, "\(paired.errors)")
    let pulled = try await hosts.laptop.run("pull", "--host", "studio.local")
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(try await hosts.laptop.contents() == hosts.studio.contents())
  }

  @Test("two servers of one name: one is renamed, once, and says so; the name then means the other")
  func collision() async throws {
    let hosts = try await TwoHosts()
    _ = try await hosts.studio.serve(["--name", "same"])
    let (other, _) = try await hosts.laptop.serve(["--name", "same"])
    try await other.errors(matching: #/Announced on this network as same #2/#)
    #expect(count("is called same already", in: other) == 1)
    let (_, waiting) = try await hosts.laptop.openWindow()
    try await waiting.errors(matching: #/hpeer pull 'same #2'\n/#)
    let third = Host(home: hosts.scratch.path + "/third", scratch: hosts.scratch, prefix: hosts.laptop.prefix)
    try await eventually("both are listed") {
      let list = try await third.run("discover").output
      return list.contains("same  ") && list.contains("same #2") ? true : nil
    }
    let refused = try await third.run("pair", "same", "--code-stdin", input: "482913\n")
    // Nobody opened a window there.
    #expect(refused.status == 7, "\(refused.errors)")
  }
}
