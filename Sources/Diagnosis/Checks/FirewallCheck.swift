import OperatingSystem

/// A check that the active firewall (firewalld, ufw, or bare nftables and iptables) lets the server's port and mDNS
/// in.
struct FirewallCheck: Check {
  let id = "firewall"
  let title = "the firewall"
  var subject: Subject
  var machine: Machine

  private var advice: FirewallAdvice { FirewallAdvice(subject: subject) }

  func findings() async -> [Finding] {
    let interfaces = machine.interfaces().filter(\.leadsOut)
    if let findings = await Firewalld(subject: subject, machine: machine).findings(interfaces) { return findings }
    let ufw = isUFWEnabled
    guard machine.isRoot else {
      if ufw { return [advice.hidden("ufw", commands: ["sudo ufw allow \(subject.port)/tcp"])] }
      return [advice.hidden(nil, commands: [])]
    }
    var found: [Finding] = []
    var isAnyKnown = false
    let iptables = await machine.run("iptables", ["-S"]).output.map(IptablesRules.parse)
    if let iptables {
      isAnyKnown = true
      found += judge(iptables, interfaces, ufw ? UFWFilter() : IptablesFilter())
    }
    if let output = await machine.run("nft", ["-j", "list", "ruleset"]).output, var rules = NftablesRules.parse(output)
    {
      isAnyKnown = true
      // The rules of iptables are in there too, in a form that only iptables understands.
      if iptables != nil { rules.bases.removeAll { $0.name == "ip filter INPUT" } }
      found += judge(rules, interfaces, NftablesFilter())
    }
    guard isAnyKnown else {
      return [Finding(.ok, "firewall.none", "No firewall is installed (firewalld, ufw, nftables, iptables)")]
    }
    if !found.isEmpty { return found }
    return [
      ufw ? advice.open("ufw") : Finding(.ok, "firewall.open", "No firewall keeps \(subject.port)/tcp or 5353/udp out")
    ]
  }

  /// Whether ufw is enabled. Only root may read its rules, but all users may read whether it is on.
  private var isUFWEnabled: Bool {
    (machine.text("/etc/ufw/ufw.conf") ?? "").split(separator: "\n").contains { $0.lowercased() == "enabled=yes" }
  }

  /// Returns findings for the worst verdict of any interface.
  private func judge(_ rules: RuleSet, _ interfaces: [NetworkInterface], _ filter: any PacketFilter) -> [Finding] {
    func worst(_ packet: (NetworkInterface) -> Packet?) -> (RuleSet.Verdict, Packet)? {
      let verdicts = interfaces.compactMap(packet).map { (rules.verdict(on: $0), $0) }
      return verdicts.first { $0.0 == .closed } ?? verdicts.first { $0.0 == .unsure }
    }
    var findings: [Finding?] = []
    if let (verdict, packet) = worst({ Packet.connection(to: subject.port, on: $0) }) {
      findings.append(
        advice.port(verdict, where: filter.name, command: filter.command(toLetIn: packet, rules.obstacle(to: packet))))
    }
    if let (verdict, packet) = worst({ Packet.multicastDNS(on: $0) }) {
      findings.append(
        advice.multicastDNS(
          verdict, where: filter.name, command: filter.command(toLetIn: packet, rules.obstacle(to: packet))))
    }
    return findings.compactMap(\.self)
  }
}
