import Foundation
import OperatingSystem
import PeerDiscovery
import PeerTrust

/// A check that multicast reaches other machines: sends a query on every interface, and asks avahi-daemon what it has
/// found.
struct MulticastCheck: Check {
  let id = "multicast"
  let title = "multicast"
  var machine: Machine
  var ask: @Sendable ([String], [NetworkInterface]) -> MulticastQuery.Result = {
    MulticastQuery.ask($0, on: $1, seconds: 2)
  }
  /// Returns the services that avahi-daemon knows; nil if it cannot be asked.
  var browse: @Sendable () async -> [DiscoveredService]? = {
    // Behind a stateful firewall, avahi-daemon receives announcements, but answers to the query from another port are
    // blocked.
    try? await ServiceBrowser().snapshot(for: .seconds(2)) { !$0.isLocal }
  }

  /// The maximum number of neighbours in a query, so that it fits into one packet.
  private static let maximumNeighbours = 16

  func findings() async -> [Finding] {
    let interfaces = machine.interfaces().filter(\.leadsOut)
    guard !interfaces.isEmpty else {
      return [
        Finding(
          .blocking, "multicast.offline", "No network interface is up and can take multicast",
          remedy: "connect a cable or a wireless network; `ip -brief link` shows the interfaces")
      ]
    }
    let numbered = interfaces.filter { $0.address != nil }
    let questions = questions(for: numbered)
    async let services = browse()
    let result = await onThread { [ask] _ in ask(questions, numbered) }
    return Self.judge(result, services: await services, interfaces: interfaces)
  }

  /// Returns the questions: all responders answer for their own address (RFC 6762 section 4), and most for their
  /// services.
  private func questions(for interfaces: [NetworkInterface]) -> [String] {
    let neighbours = (machine.text("/proc/self/net/arp") ?? "").split(separator: "\n").dropFirst()
      .compactMap { IPv4Address($0.prefix { $0 != " " }) }.prefix(Self.maximumNeighbours)
    let addresses = interfaces.compactMap(\.address) + neighbours
    return ["_services._dns-sd._udp.local", "\(HealthSyncService.type).local"]
      + addresses.map { "\($0.bytes.reversed().map(String.init).joined(separator: ".")).in-addr.arpa" }
  }

  static func judge(
    _ result: MulticastQuery.Result, services: [DiscoveredService]?, interfaces: [NetworkInterface]
  ) -> [Finding] {
    let own = Set(interfaces.compactMap(\.address))
    let names = Set(interfaces.map(\.name)).sorted()
    let list = names.joined(separator: ", ")
    var findings: [Finding] = []
    let failures = result.failures.sorted { $0.key < $1.key }
    for (name, code) in failures {
      // A packet filter that rejects a packet shows as EPERM at the sender.
      let isFirewall = code == EPERM
      findings.append(
        Finding(
          failures.count == names.count ? .blocking : .warning, "multicast.unsendable",
          "Multicast cannot be sent on \(name) (\(SystemMessage.text(code)))",
          remedy: isFirewall
            ? "a firewall forbids outgoing 5353/udp: allow it"
            : "sudo ip route add 224.0.0.0/4 dev \(ShellWord.quoted(name))"))
    }
    let answering = result.answers.values.reduce(into: Set<IPv4Address>()) { $0.formUnion($1) }
    let remote = Set((services ?? []).filter { !$0.isLocal }.map(\.hostName)).count
    let others = max(answering.subtracting(own).count, remote)
    if others > 0 {
      return findings + [
        Finding(.ok, "multicast.heard", "Other machines that answer multicast on \(list): \(others)")
      ]
    }
    guard failures.count < names.count else { return findings }
    // This machine's avahi-daemon answers all queries unless something blocks them.
    let isDeaf = services != nil && answering.isDisjoint(with: own) && !own.isEmpty
    return findings + [
      isDeaf
        ? Finding(
          .warning, "multicast.deaf", "Not even this machine's avahi-daemon heard a question by multicast on \(list)",
          remedy: "something keeps 5353/udp out, usually this machine's own firewall: see the line about the firewall")
        : Finding(
          .warning, "multicast.alone", "No mDNS answer from anyone else on \(list)",
          remedy:
            "fine if no other machine is on; else look for \"client isolation\" or \"IGMP snooping\" on the access "
            + "point, or do without: hpeer pull --host NAME:PORT")
    ]
  }
}
