import OperatingSystem
import PeerTrust

/// A kind of packet filter: its name, and its command to open a port.
protocol PacketFilter: Sendable {
  var name: String { get }
  func command(toLetIn packet: Packet, _ chain: RuleSet.BaseChain?) -> String
}

struct UFWFilter: PacketFilter {
  let name = "ufw"

  func command(toLetIn packet: Packet, _ chain: RuleSet.BaseChain?) -> String {
    "sudo ufw allow \(packet.port)/\(packet.transport)"
  }
}

struct IptablesFilter: PacketFilter {
  let name = "The firewall (iptables)"

  func command(toLetIn packet: Packet, _ chain: RuleSet.BaseChain?) -> String {
    "sudo iptables -I INPUT -p \(packet.transport) --dport \(packet.port) -j ACCEPT"
  }
}

struct NftablesFilter: PacketFilter {
  let name = "The firewall (nftables)"

  func command(toLetIn packet: Packet, _ chain: RuleSet.BaseChain?) -> String {
    let place = (chain?.name ?? "inet filter input").split(separator: " ").map { ShellWord.quoted(String($0)) }
    return "sudo nft insert rule \(place.joined(separator: " ")) \(packet.transport) dport \(packet.port) accept"
      + "  (and into /etc/nftables.conf, to last)"
  }
}
