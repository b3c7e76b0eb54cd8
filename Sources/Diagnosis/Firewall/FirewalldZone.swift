/// A firewalld zone, as printed by `firewall-cmd --zone=ZONE --list-all`.
struct FirewalldZone: Sendable {
  var name: String
  /// The target: `default`, `ACCEPT`, `DROP` or `%%REJECT%%`.
  var target = "default"
  var services: Set<String> = []
  var ports: [(transport: String, range: ClosedRange<UInt16>)] = []
  /// Whether the zone has rich rules, which are not interpreted and may override the rest.
  var hasRichRules = false

  init?(name: String, _ text: String) {
    self.name = name
    var isKnown = false
    var isInRichRules = false
    for line in text.split(separator: "\n") {
      if isInRichRules, line.contains("rule ") { hasRichRules = true }
      guard let colon = line.firstIndex(of: ":") else { continue }
      let key = line[..<colon].drop { $0 == " " }
      let values = line[line.index(after: colon)...].split(separator: " ").map(String.init)
      switch key {
      case "target":
        target = values.first ?? "default"
        isKnown = true
      case "services": services = Set(values)
      case "ports": ports = values.compactMap(Self.port)
      case "rich rules": isInRichRules = true
      default: continue
      }
    }
    guard isKnown else { return nil }
  }

  /// Parses `8737/tcp` or `1025-65535/udp`.
  private static func port(_ text: String) -> (transport: String, range: ClosedRange<UInt16>)? {
    let parts = text.split(separator: "/")
    let ends = (parts.first ?? "").split(separator: "-").map { UInt16($0) }
    guard parts.count == 2, let low = ends.first ?? nil, let high = ends.last ?? nil, low <= high else { return nil }
    return (String(parts[1]), low...high)
  }

  /// Returns whether the zone lets a port in.
  /// - Parameter service: firewalld's service name for this port.
  func lets(in transport: Packet.Transport, _ port: UInt16, service: String) -> Bool {
    target == "ACCEPT" || services.contains(service)
      || ports.contains { $0.transport == transport.rawValue && $0.range.contains(port) }
  }

  /// Returns the zone of each interface that has its own, from the output of `firewall-cmd --get-active-zones`.
  static func zones(_ text: String) -> [String: String] {
    var zones: [String: String] = [:]
    var zone = ""
    for line in text.split(separator: "\n") {
      if !line.hasPrefix(" ") {
        // Later versions write `public (default)`.
        zone = line.split(separator: " ").first.map(String.init) ?? ""
      } else if let colon = line.firstIndex(of: ":"), line[..<colon].drop(while: { $0 == " " }) == "interfaces" {
        for interface in line[line.index(after: colon)...].split(separator: " ") { zones[String(interface)] = zone }
      }
    }
    return zones
  }
}
