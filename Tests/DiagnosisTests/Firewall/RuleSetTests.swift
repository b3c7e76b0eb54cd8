import OperatingSystem
import Testing

@testable import Diagnosis

@Suite("Packet filters")
struct RuleSetTests {
  private let interface = NetworkInterface.wired

  private func verdicts(_ rules: RuleSet) throws -> (port: RuleSet.Verdict, mdns: RuleSet.Verdict) {
    (
      rules.verdict(on: try #require(Packet.connection(to: 8737, on: interface))),
      rules.verdict(on: try #require(Packet.multicastDNS(on: interface)))
    )
  }

  private func iptables(_ rules: String...) throws -> (port: RuleSet.Verdict, mdns: RuleSet.Verdict) {
    try verdicts(IptablesRules.parse((["-P INPUT DROP"] + rules).joined(separator: "\n")))
  }

  private func nftables(_ rule: String) throws -> (port: RuleSet.Verdict, mdns: RuleSet.Verdict) {
    try verdicts(try #require(NftablesRules.parse(Outputs.nftables(rule))))
  }

  // MARK: iptables

  @Test("nothing set: everything gets in")
  func empty() throws {
    let (port, mdns) = try verdicts(IptablesRules.parse("-P INPUT ACCEPT\n-P FORWARD DROP\n-P OUTPUT ACCEPT"))
    #expect(port == .open && mdns == .open)
  }

  @Test("ufw as it comes: mDNS gets in, the port does not")
  func ufw() throws {
    let (port, mdns) = try verdicts(IptablesRules.parse(Outputs.ufw()))
    #expect(port == .closed && mdns == .open)
  }

  @Test(
    "ufw with the port allowed",
    arguments: [
      "-A ufw-user-input -p tcp -m tcp --dport 8737 -j ACCEPT",
      "-A ufw-user-input -p tcp -m multiport --dports 80,8000:9000 -j ACCEPT",
      "-A ufw-user-input -i eth0 -p tcp -m tcp --dport 8737 -j ACCEPT",
      "-A ufw-user-input -s 10.77.0.0/16 -p tcp -m tcp --dport 8737 -j ACCEPT",
      "-A ufw-user-input -p tcp -m multiport --dports 8737 -m comment --comment \"\\'dapp_My hpeer\\'\" -j ACCEPT",
    ])
  func ufwAllows(_ rule: String) throws {
    #expect(try verdicts(IptablesRules.parse(Outputs.ufw(allowing: rule))).port == .open)
  }

  @Test(
    "rules that are not about this packet change nothing",
    arguments: [
      "-A ufw-user-input -p udp -m udp --dport 8737 -j ACCEPT",
      "-A ufw-user-input -p tcp -m tcp --dport 8738 -j ACCEPT",
      "-A ufw-user-input -i wg0 -p tcp -m tcp --dport 8737 -j ACCEPT",
      "-A ufw-user-input ! -i eth+ -p tcp -m tcp --dport 8737 -j ACCEPT",
      "-A ufw-user-input -s 172.16.0.0/12 -p tcp -m tcp --dport 8737 -j ACCEPT",
      "-A ufw-user-output -p tcp -m tcp --dport 8737 -j ACCEPT",
    ])
  func ufwUnrelated(_ rule: String) throws {
    #expect(try verdicts(IptablesRules.parse(Outputs.ufw(allowing: rule))).port == .closed)
  }

  @Test("a rule that depends on more than is known here is no verdict")
  func unknown() throws {
    let rule = "-A INPUT -p tcp -m tcp --dport 8737 -m set --match-set friends src -j ACCEPT"
    #expect(try iptables(rule).port == .unsure)
    #expect(try iptables("-A INPUT -j NFQUEUE --queue-num 0").port == .unsure)
  }

  @Test("the last word without conditions is REJECT")
  func reject() throws {
    let text =
      "-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n"
      + "-A INPUT -j REJECT --reject-with icmp-host-prohibited"
    let (port, mdns) = try verdicts(IptablesRules.parse(text))
    #expect(port == .closed && mdns == .closed)
  }

  @Test("chains that call each other end")
  func loop() throws {
    #expect(try iptables("-A INPUT -j a", "-A a -j b", "-A b -j a", "-A b -j a").port == .closed)
  }

  // MARK: nftables

  @Test("policy drop keeps both out, and names the chain")
  func nftablesDrop() throws {
    let rules = try #require(NftablesRules.parse(Outputs.nftables()))
    let (port, mdns) = try verdicts(rules)
    #expect(port == .closed && mdns == .closed)
    let packet = try #require(Packet.connection(to: 8737, on: interface))
    #expect(rules.obstacle(to: packet)?.name == "inet filter input")
  }

  @Test(
    "nftables rules that let the port in",
    arguments: [
      #"{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 8737}}, {"counter": {"packets": 0, "bytes": 0}}, {"accept": null}"#,
      #"{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": {"set": [22, {"range": [8000, 9000]}]}}}, {"accept": null}"#,
      #"{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "eth0"}}, {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": "@ports"}}, {"accept": null}"#,
      #"{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": {"prefix": {"addr": "10.0.0.0", "len": 8}}}}, {"accept": null}"#,
      #"{"match": {"op": "!=", "left": {"meta": {"key": "iifname"}}, "right": "wan0"}}, {"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": "tcp"}}, {"accept": null}"#,
      #"{"vmap": {"key": {"payload": {"protocol": "tcp", "field": "dport"}}, "data": {"set": [[80, {"drop": null}], [8737, {"accept": null}]]}}}"#,
    ])
  func nftablesAllows(_ rule: String) throws {
    #expect(try nftables(rule).port == .open)
  }

  @Test(
    "nftables rules that do not",
    arguments: [
      #"{"match": {"op": "!=", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": 22}}, {"accept": null}"#,
      #"{"match": {"op": "==", "left": {"payload": {"protocol": "ip6", "field": "saddr"}}, "right": "fe80::1"}}, {"accept": null}"#,
      #"{"match": {"op": "==", "left": {"meta": {"key": "pkttype"}}, "right": "multicast"}}, {"accept": null}"#,
      #"{"match": {"op": "==", "left": {"fib": {"result": "type", "flags": "daddr"}}, "right": "broadcast"}}, {"accept": null}"#,
    ])
  func nftablesUnrelated(_ rule: String) throws {
    #expect(try nftables(rule).port == .closed)
  }

  @Test("mDNS by its group's address")
  func nftablesMulticast() throws {
    let rule =
      #"{"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": 5353}}, {"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "daddr"}}, "right": "224.0.0.251"}}, {"accept": null}"#
    let (port, mdns) = try nftables(rule)
    #expect(port == .closed && mdns == .open)
  }

  @Test("a set that is not there, an expression that is not known")
  func nftablesUnknown() throws {
    #expect(
      try nftables(
        #"{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": "@none"}}, {"accept": null}"#
      ).port == .unsure)
    #expect(try nftables(#"{"xt": {"type": "match", "name": "multiport"}}, {"accept": null}"#).port == .unsure)
  }

  @Test("what is not a ruleset is none", arguments: ["", "{}", "[1]", "{\"nftables\": 1}"])
  func notARuleset(_ text: String) {
    #expect(NftablesRules.parse(text) == nil)
  }
}
