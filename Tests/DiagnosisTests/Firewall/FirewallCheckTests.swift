import OperatingSystem
import Testing

@testable import Diagnosis

@Suite("Firewall")
struct FirewallCheckTests {
  private func findings(_ machine: Machine, _ subject: Subject = .test()) async -> [Finding] {
    await FirewallCheck(subject: subject, machine: machine).findings()
  }

  // MARK: ufw

  private let ufwFile = ["/etc/ufw/ufw.conf": "# comment\nENABLED=yes\nLOGLEVEL=low\n"]

  @Test("ufw as root: the port's command, and mDNS is not mentioned because ufw lets it in")
  func ufw() async throws {
    let machine = Machine.fake(files: ufwFile, commands: ["iptables": .printed(Outputs.ufw())], isRoot: true)
    let found = await findings(machine)
    #expect(found.ids == ["firewall.port"])
    #expect(found.first?.severity == .blocking)
    #expect(found.first?.text.contains("ufw keeps 8737/tcp closed") == true)
    #expect(found.first?.remedy == "sudo ufw allow 8737/tcp")
    let other = await findings(machine, .test(port: 9000))
    #expect(other.first?.remedy == "sudo ufw allow 9000/tcp")
  }

  @Test("ufw as root with the port allowed")
  func ufwOpen() async {
    let rules = Outputs.ufw(allowing: "-A ufw-user-input -p tcp -m tcp --dport 8737 -j ACCEPT")
    let found = await findings(.fake(files: ufwFile, commands: ["iptables": .printed(rules)], isRoot: true))
    #expect(found.ids == ["firewall.open"])
    #expect(found.areHealthy)
  }

  @Test("ufw without root: a note with the command that can look, and the one that opens")
  func ufwHidden() async throws {
    let found = await findings(.fake(files: ufwFile))
    #expect(found.ids == ["firewall.hidden"])
    #expect(found.first?.severity == .note)
    let remedy = try #require(found.first?.remedy)
    #expect(remedy.contains("sudo hpeer doctor") && remedy.contains("sudo ufw allow 8737/tcp"))
  }

  @Test("ufw that is off says nothing of itself")
  func ufwOff() async {
    let found = await findings(.fake(files: ["/etc/ufw/ufw.conf": "ENABLED=no\n"]))
    #expect(found.first?.text.contains("ufw") == false)
  }

  // MARK: firewalld

  private func firewalld(
    zone: String, active: String = "public\n  interfaces: wlan0\n", standard: String = "FedoraWorkstation\n"
  ) -> [String: CommandOutcome] {
    [
      "firewall-cmd --state": .printed("running\n"),
      "firewall-cmd --get-default-zone": .printed(standard),
      "firewall-cmd --get-active-zones": .printed(active),
      "firewall-cmd --zone=public --list-all": .printed(zone),
      "firewall-cmd --zone=FedoraWorkstation --list-all": .printed(zone),
    ]
  }

  @Test("firewalld: the interface's own zone, not the default one")
  func zoneOfInterface() async {
    let found = await findings(.fake(commands: firewalld(zone: Outputs.zone())))
    #expect(found.ids == ["firewall.port", "firewall.mdns"])
    #expect(found.allSatisfy { $0.severity == .blocking && $0.text.contains("zone public (wlan0)") })
    #expect(
      found.first?.remedy
        == "sudo firewall-cmd --zone=public --permanent --add-port=8737/tcp && sudo firewall-cmd --reload")
    #expect(found.last?.remedy?.contains("--zone=public --permanent --add-service=mdns") == true)
  }

  @Test("firewalld: an interface without a zone of its own is in the default one")
  func defaultZone() async {
    let found = await findings(.fake(commands: firewalld(zone: Outputs.zone(), active: "")))
    #expect(found.first?.remedy?.contains("--zone=FedoraWorkstation") == true)
  }

  @Test(
    "firewalld: open by port, by range, by service, by target",
    arguments: [
      Outputs.zone(services: "mdns", ports: "8737/tcp"),
      Outputs.zone(ports: "1025-65535/udp 1025-65535/tcp"),
      Outputs.zone(services: "hpeer mdns ssh"),
      Outputs.zone(target: "ACCEPT"),
    ])
  func zoneOpen(_ zone: String) async {
    #expect(await findings(.fake(commands: firewalld(zone: zone))).ids == ["firewall.open"])
  }

  @Test("firewalld: a rich rule may say otherwise, so there is no verdict")
  func richRule() async {
    let zone = Outputs.zone(
      services: "mdns", rich: "\trule family=\"ipv4\" source address=\"192.168.1.0/24\" accept")
    let found = await findings(.fake(commands: firewalld(zone: zone)))
    #expect(found.ids == ["firewall.port.unsure"])
    #expect(found.areHealthy)
  }

  @Test("firewalld: later versions mark the default zone in the list")
  func markedZone() {
    #expect(
      FirewalldZone.zones(
        "public (default)\n  interfaces: eth0 wlan0\ndocker\n  interfaces: docker0\n  sources: 1.2.3.4\n")
        == ["eth0": "public", "wlan0": "public", "docker0": "docker"])
  }

  @Test("firewalld that may not be asked is a note; one that does not run is none")
  func firewalldHidden() async {
    let hidden = await findings(
      .fake(commands: ["firewall-cmd": .finished(status: 253, output: "", errors: "Authorization failed.\n")]))
    #expect(hidden.ids == ["firewall.hidden"])
    #expect(hidden.first?.text.hasPrefix("firewalld is active") == true)
    let off = await findings(
      .fake(commands: ["firewall-cmd": .finished(status: 252, output: "", errors: "not running\n")]))
    #expect(off.first?.text.contains("firewalld") == false)
  }

  // MARK: nftables, iptables, none

  @Test("nftables that drops: the rule for this very chain")
  func nftables() async {
    let found = await findings(
      .fake(commands: ["nft -j list ruleset": .printed(Outputs.nftables())], isRoot: true))
    #expect(found.ids == ["firewall.port", "firewall.mdns"])
    #expect(found.first?.remedy?.hasPrefix("sudo nft insert rule inet filter input tcp dport 8737 accept") == true)
    #expect(found.last?.remedy?.hasPrefix("sudo nft insert rule inet filter input udp dport 5353 accept") == true)
  }

  @Test("iptables that drops")
  func iptables() async {
    let found = await findings(.fake(commands: ["iptables -S": .printed("-P INPUT DROP\n")], isRoot: true))
    #expect(found.first?.remedy == "sudo iptables -I INPUT -p tcp --dport 8737 -j ACCEPT")
  }

  @Test("no firewall at all, and one that may not be looked at")
  func none() async {
    #expect(await findings(.fake(isRoot: true)).ids == ["firewall.none"])
    let found = await findings(.fake(isRoot: false))
    #expect(found.ids == ["firewall.hidden"])
    #expect(found.areHealthy)
  }

  @Test("a machine that only pulls needs no open port, but mDNS")
  func onlyPulls() async throws {
    let home = try TemporaryHome()
    try home.write("peers.sqlite", "")
    let machine = Machine.fake(
      commands: ["nft -j list ruleset": .printed(Outputs.nftables())], isRoot: true)
    let found = await findings(machine, .test(home: home.path))
    #expect(found.first("firewall.port")?.severity == .warning)
    #expect(found.first("firewall.mdns")?.severity == .blocking)
    let chosen = await findings(machine, .test(home: home.path, isPortChosen: true))
    #expect(chosen.first("firewall.port")?.severity == .blocking)
    try home.write("serve.lock", "")
    #expect(await findings(machine, .test(home: home.path)).first("firewall.port")?.severity == .blocking)
  }
}
