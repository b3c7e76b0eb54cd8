import Foundation
import OperatingSystem
import PeerDiscovery
import Testing

@testable import Diagnosis

@Suite("D-Bus and Avahi")
struct AvahiCheckTests {
  private let systemd = ["/run/systemd/system": ""]

  private func avahi(_ error: DiscoveryError?, files: [String: String]) async throws -> Finding {
    let check = AvahiCheck(machine: .fake(files: files)) {
      if let error { throw error }
    }
    return try #require(await check.findings().first)
  }

  @Test("installed and stopped, with systemd and without")
  func stopped() async throws {
    let installed = ["/usr/sbin/avahi-daemon": "x"]
    let finding = try await avahi(.daemonNotRunning, files: systemd.merging(installed) { $1 })
    #expect(finding.id == "avahi.stopped" && finding.severity == .blocking)
    #expect(finding.remedy == "sudo systemctl start avahi-daemon")
    let without = try await avahi(.daemonNotRunning, files: installed)
    #expect(without.remedy == "no systemd runs here: sudo service avahi-daemon start")
  }

  @Test(
    "not installed: the distribution's own command",
    arguments: [
      ("ID=debian", "sudo apt install avahi-daemon"), ("ID=fedora", "sudo dnf install avahi"),
      ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"", "sudo apt install avahi-daemon"),
      ("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"", "sudo zypper install avahi"),
      ("ID=manjaro\nID_LIKE=arch", "sudo pacman -S avahi"),
    ])
  func absent(_ release: String, _ command: String) async throws {
    let finding = try await avahi(.daemonNotRunning, files: ["/etc/os-release": release])
    #expect(finding.id == "avahi.absent" && finding.remedy == command)
  }

  @Test("running; running but forbidden to publish; without a bus it is the bus that is to blame")
  func others() async throws {
    #expect(try await avahi(nil, files: [:]).id == "avahi.ok")
    let mute = try await avahi(
      nil, files: ["/etc/avahi/avahi-daemon.conf": "[publish]\n#disable-publishing=no\ndisable-publishing = yes\n"])
    #expect(mute.id == "avahi.mute" && mute.severity == .warning)
    #expect(try await avahi(.noDBus(reason: "x"), files: [:]).severity == .note)
  }

  @Test("the bus at its usual place, elsewhere, and not there")
  func bus() async throws {
    #expect(BusCheck.path(of: nil) == "/run/dbus/system_bus_socket")
    #expect(BusCheck.path(of: "tcp:host=x,port=1;unix:guid=1,path=/a%20b") == "/a b")
    #expect(BusCheck.path(of: "tcp:host=x") == nil)
    let home = try TemporaryHome()
    let check = BusCheck(machine: .fake(files: systemd), address: "unix:path=\(home.path)/none")
    let finding = try #require(await check.findings().first)
    #expect(finding.id == "dbus.absent" && finding.severity == .blocking)
    #expect(finding.remedy == "sudo systemctl start dbus avahi-daemon")
  }
}

@Suite("Other responders")
struct ResponderTests {
  /// A table of UDP sockets as the kernel prints it.
  private let table = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
     2114: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   108        0 21170 2 00000000a3cba3ae 0
     2115: FB0000E0:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 30001 2 00000000a3cba3ae 0
     7106: 0100007F:A9D9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 18 2 00000000a3cba3ae 0
    """

  private func findings(_ name: String?) async -> [Finding] {
    var owners = [UInt64(21170): SocketOwner(pid: 500, name: "avahi-daemon")]
    owners[30001] = name.map { SocketOwner(pid: 4242, name: $0) }
    let machine = Machine.fake(
      files: ["/proc/self/net/udp": table], owners: owners, users: [108: "avahi", 1000: "anna"])
    return await ResponderCheck(machine: machine).findings()
  }

  @Test(
    "Avahi itself and browsers are nothing to speak of", arguments: ["avahi-daemon", "chromium", "chrome", "spotify"])
  func harmless(_ name: String) async {
    #expect(await findings(name).ids == ["responder.ok"])
  }

  @Test("systemd-resolved, KDE Connect and others are named, with what to do")
  func others() async throws {
    let resolved = try #require(await findings("systemd-resolve").first)
    #expect(resolved.id == "responder.resolved")
    #expect(resolved.remedy?.contains("MulticastDNS=no") == true)
    let kde = try #require(await findings("kdeconnectd").first)
    #expect(kde.severity == .warning && kde.text.contains("KDE Connect (process 4242)"))
    #expect(await findings("mdnsd").first?.text.contains("mdnsd (process 4242)") == true)
  }

  @Test("a process that may not be looked at is known by its user")
  func hidden() async throws {
    let finding = try #require(await findings(nil).first)
    #expect(finding.id == "responder.unknown" && finding.text.contains("anna"))
    let avahi = Machine.fake(files: ["/proc/self/net/udp": table], users: [108: "avahi", 1000: "avahi"])
    #expect(await ResponderCheck(machine: avahi).findings().ids == ["responder.ok"])
  }

  @Test("the table is read as the kernel writes it, and rubbish is passed over")
  func tableRows() {
    let entries = SocketEntry.parse(table + "\n rubbish\n 1: 00:14E9 x\n")
    #expect(entries.map(\.port) == [5353, 5353, 43481])
    #expect(entries.map(\.ipv4) == ["0.0.0.0", "224.0.0.251", "127.0.0.1"])
    #expect(entries.map(\.isForAllAddresses) == [true, false, false])
  }
}

@Suite("Multicast")
struct MulticastTests {
  private let interfaces = [NetworkInterface.wired]
  private let own = IPv4Address(value: 0x0A4D_0001)
  private let other = IPv4Address(value: 0x0A4D_0002)

  private func judge(
    _ answers: Set<IPv4Address>, failure: Int32? = nil, services: [DiscoveredService]? = []
  ) -> [Finding] {
    var result = MulticastQuery.Result(answers: ["eth0": answers])
    result.failures["eth0"] = failure
    return MulticastCheck.judge(result, services: services, interfaces: interfaces)
  }

  @Test("others answer, only this machine answers, nobody answers")
  func answers() {
    #expect(judge([own, other]).ids == ["multicast.heard"])
    let alone = judge([own])
    #expect(alone.ids == ["multicast.alone"] && alone[0].severity == .warning)
    #expect(alone[0].remedy?.contains("--host NAME:PORT") == true)
    #expect(judge([]).ids == ["multicast.deaf"])
    #expect(judge([], services: nil).ids == ["multicast.alone"])
  }

  @Test("what Avahi has heard counts, if it is not from this machine")
  func browsed() {
    func service(_ isLocal: Bool) -> DiscoveredService {
      DiscoveredService(
        name: "a", hostName: "a.local", address: "10.77.0.2", addressFamily: .ipv4, port: 1, interfaceName: "eth0",
        interfaceIndex: 2, isLocal: isLocal)
    }
    #expect(judge([], services: [service(false)]).ids == ["multicast.heard"])
    #expect(judge([own], services: [service(true)]).ids == ["multicast.alone"])
  }

  @Test("a question that cannot be sent")
  func failures() {
    let unroutable = judge([], failure: ENETUNREACH)
    #expect(unroutable.ids == ["multicast.unsendable"] && !unroutable.areHealthy)
    #expect(unroutable[0].remedy == "sudo ip route add 224.0.0.0/4 dev eth0")
    #expect(judge([], failure: EPERM)[0].remedy?.contains("firewall") == true)
  }

  @Test("no network at all")
  func offline() async {
    let check = MulticastCheck(machine: .fake(interfaces: [.loopback]))
    let found = await check.findings()
    #expect(found.ids == ["multicast.offline"] && !found.areHealthy)
  }

  @Test("the question, byte by byte (RFC 1035 section 4)")
  func message() {
    #expect(
      MulticastQuery.message(["_a.local"], identifier: 0x1234) == [
        0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0x5F, 0x61, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0, 0, 12, 0, 1,
      ])
    #expect(MulticastQuery.isAnswer([0x12, 0x34, 0x84, 0, 0, 0, 0, 0, 0, 0, 0, 0], identifier: 0x1234))
    #expect(!MulticastQuery.isAnswer([0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], identifier: 0x1234))
    #expect(!MulticastQuery.isAnswer([0x12, 0x34, 0x84], identifier: 0x1234))
  }

  @Test("asks for this machine and its neighbours by address")
  func questions() async {
    let arp =
      "IP address       HW type     Flags       HW address            Mask     Device\n"
      + "10.77.0.9        0x1         0x2         02:fc:00:00:00:05     *        eth0\n"
    let asked = AsyncStream.makeStream(of: [String].self)
    let check = MulticastCheck(
      machine: .fake(files: ["/proc/self/net/arp": arp], interfaces: interfaces),
      ask: { questions, _ in
        asked.continuation.yield(questions)
        return MulticastQuery.Result()
      }, browse: { nil })
    _ = await check.findings()
    let questions = await asked.stream.first { _ in true }
    #expect(questions?.contains("1.0.77.10.in-addr.arpa") == true)
    #expect(questions?.contains("9.0.77.10.in-addr.arpa") == true)
  }
}

@Suite("Containers")
struct ContainerTests {
  private func finding(_ files: [String: String], address: String) async throws -> Finding {
    let interface = NetworkInterface(name: "eth0", address: IPv4Address(address))
    return try #require(await ContainerCheck(machine: .fake(files: files, interfaces: [interface])).findings().first)
  }

  @Test("bridged, on the host's network, and none")
  func containers() async throws {
    let bridged = try await finding(["/.dockerenv": ""], address: "172.17.0.2")
    #expect(bridged.id == "container.bridged" && bridged.remedy?.contains("--network host") == true)
    #expect(try await finding(["/run/.containerenv": ""], address: "10.88.0.4").text.contains("Podman"))
    #expect(try await finding(["/proc/1/cgroup": "0::/docker/abc\n"], address: "172.20.0.2").id == "container.bridged")
    #expect(try await finding(["/.dockerenv": ""], address: "192.168.1.20").id == "container.connected")
    #expect(try await finding(["/proc/1/cgroup": "0::/init.scope\n"], address: "172.17.0.2").id == "container.none")
  }
}
