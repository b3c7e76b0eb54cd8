/// Real outputs of firewall programs on Debian 12.
enum Outputs {
  /// Returns the output of `iptables -S` with ufw enabled and 22/tcp allowed.
  static func ufw(allowing rule: String = "") -> String {
    """
    -P INPUT DROP
    -P FORWARD DROP
    -P OUTPUT ACCEPT
    -N ufw-after-input
    -N ufw-before-input
    -N ufw-user-input
    -A INPUT -j ufw-before-logging-input
    -A INPUT -j ufw-before-input
    -A INPUT -j ufw-after-input
    -A INPUT -j ufw-after-logging-input
    -A INPUT -j ufw-reject-input
    -A INPUT -j ufw-track-input
    -A ufw-after-input -p udp -m udp --dport 137 -j ufw-skip-to-policy-input
    -A ufw-after-input -m addrtype --dst-type BROADCAST -j ufw-skip-to-policy-input
    -A ufw-after-logging-input -m limit --limit 3/min --limit-burst 10 -j LOG --log-prefix "[UFW BLOCK] "
    -A ufw-before-input -i lo -j ACCEPT
    -A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
    -A ufw-before-input -m conntrack --ctstate INVALID -j ufw-logging-deny
    -A ufw-before-input -m conntrack --ctstate INVALID -j DROP
    -A ufw-before-input -p icmp -m icmp --icmp-type 8 -j ACCEPT
    -A ufw-before-input -p udp -m udp --sport 67 --dport 68 -j ACCEPT
    -A ufw-before-input -j ufw-not-local
    -A ufw-before-input -d 224.0.0.251/32 -p udp -m udp --dport 5353 -j ACCEPT
    -A ufw-before-input -d 239.255.255.250/32 -p udp -m udp --dport 1900 -j ACCEPT
    -A ufw-before-input -j ufw-user-input
    -A ufw-logging-deny -m conntrack --ctstate INVALID -m limit --limit 3/min --limit-burst 10 -j RETURN
    -A ufw-logging-deny -m limit --limit 3/min --limit-burst 10 -j LOG --log-prefix "[UFW BLOCK] "
    -A ufw-not-local -m addrtype --dst-type LOCAL -j RETURN
    -A ufw-not-local -m addrtype --dst-type MULTICAST -j RETURN
    -A ufw-not-local -m addrtype --dst-type BROADCAST -j RETURN
    -A ufw-not-local -m limit --limit 3/min --limit-burst 10 -j ufw-logging-deny
    -A ufw-not-local -j DROP
    -A ufw-skip-to-policy-input -j DROP
    -A ufw-user-input -p tcp -m tcp --dport 22 -j ACCEPT
    \(rule)
    """
  }

  /// Returns the output of `nft -j list ruleset` with the given rules.
  static func nftables(policy: String = "drop", _ rules: String...) -> String {
    let rules = rules.map {
      #"{"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 4, "expr": [\#($0)]}}"#
    }
    return #"""
      {"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}},
      {"table": {"family": "inet", "name": "filter", "handle": 1}},
      {"set": {"family": "inet", "name": "ports", "table": "filter", "type": "inet_service", "handle": 3,
        "flags": ["interval"], "elem": [22, {"range": [8000, 9000]}]}},
      {"chain": {"family": "inet", "table": "filter", "name": "input", "handle": 1, "type": "filter", "hook": "input",
        "prio": 0, "policy": "\#(policy)"}},
      {"chain": {"family": "inet", "table": "filter", "name": "output", "handle": 2, "type": "filter",
        "hook": "output", "prio": 0, "policy": "drop"}},
      {"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 4, "expr": [{"match": {"op": "in",
        "left": {"ct": {"key": "state"}}, "right": ["established", "related"]}}, {"accept": null}]}},
      {"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 5, "expr": [{"match": {"op": "==",
        "left": {"meta": {"key": "iif"}}, "right": "lo"}}, {"accept": null}]}}\#(rules.map { "," + $0 }.joined())
      ]}
      """#
  }

  /// Returns the output of `firewall-cmd --zone=public --list-all`.
  static func zone(
    target: String = "default", services: String = "dhcpv6-client ssh", ports: String = "", rich: String = ""
  ) -> String {
    """
    public (active)
      target: \(target)
      icmp-block-inversion: no
      interfaces: wlan0
      sources: 
      services: \(services)
      ports: \(ports)
      protocols: 
      forward: yes
      masquerade: no
      forward-ports: 
      source-ports: 
      icmp-blocks: 
      rich rules: 
    \(rich)
    """
  }
}
