import OperatingSystem
import PeerTrust

/// The check of firewalld, through `firewall-cmd`.
struct Firewalld: Sendable {
  var subject: Subject
  var machine: Machine

  /// The exit status of firewall-cmd(1) if the caller is not authorized.
  private static let notAuthorized: Int32 = 253

  /// Returns the findings, or nil if firewalld does not run.
  func findings(_ interfaces: [NetworkInterface]) async -> [Finding]? {
    let advice = FirewallAdvice(subject: subject)
    guard case .finished(let status, _, _) = await machine.run("firewall-cmd", ["--state"]) else { return nil }
    if status == Self.notAuthorized { return [hidden(advice)] }
    guard status == 0 else { return nil }
    guard let standard = await machine.run("firewall-cmd", ["--get-default-zone"]).output,
      let active = await machine.run("firewall-cmd", ["--get-active-zones"]).output
    else { return [hidden(advice)] }
    let own = FirewalldZone.zones(active)
    var interfacesOfZones: [String: [String]] = [:]
    for interface in interfaces {
      let zone = own[interface.name] ?? standard.filter { !$0.isNewline }
      if interfacesOfZones[zone]?.contains(interface.name) != true {
        interfacesOfZones[zone, default: []].append(interface.name)
      }
    }
    var findings: [Finding] = []
    for (name, interfaces) in interfacesOfZones.sorted(by: { $0.key < $1.key }) {
      guard let text = await machine.run("firewall-cmd", ["--zone=\(name)", "--list-all"]).output,
        let zone = FirewalldZone(name: name, text)
      else { return [hidden(advice)] }
      findings += judge(zone, interfaces, advice)
    }
    let zones = interfacesOfZones.keys.sorted().joined(separator: ", ")
    return findings.isEmpty ? [advice.open("firewalld (zone \(zones))")] : findings
  }

  private func judge(_ zone: FirewalldZone, _ interfaces: [String], _ advice: FirewallAdvice) -> [Finding] {
    let place = "firewalld's zone \(zone.name) (\(interfaces.joined(separator: ", ")))"
    func verdict(_ isLetIn: Bool) -> RuleSet.Verdict {
      isLetIn ? .open : zone.hasRichRules ? .unsure : .closed
    }
    func command(_ option: String) -> String {
      "sudo firewall-cmd --zone=\(ShellWord.quoted(zone.name)) --permanent \(option) && sudo firewall-cmd --reload"
    }
    return [
      advice.port(
        verdict(zone.lets(in: .tcp, subject.port, service: subject.port == 8737 ? "hpeer" : "")), where: place,
        command: command("--add-port=\(subject.port)/tcp")),
      advice.multicastDNS(
        verdict(zone.lets(in: .udp, 5353, service: "mdns")), where: place, command: command("--add-service=mdns")),
    ].compactMap(\.self)
  }

  private func hidden(_ advice: FirewallAdvice) -> Finding {
    let zone = "--zone=\"$(firewall-cmd --get-default-zone)\""
    return advice.hidden(
      "firewalld",
      commands: [
        "sudo firewall-cmd \(zone) --permanent --add-port=\(subject.port)/tcp --add-service=mdns",
        "sudo firewall-cmd --reload",
      ])
  }
}
