/// The findings about a firewall, the same for every kind of firewall.
struct FirewallAdvice: Sendable {
  let subject: Subject

  /// Returns a finding about the port of `hpeer serve`, or nil if the port is open.
  /// - Parameters:
  ///   - where: the obstacle, such as `ufw` or `firewalld's zone public (wlan0)`.
  ///   - verdict: whether a client can reach the port.
  ///   - command: the command that opens the port.
  func port(_ verdict: RuleSet.Verdict, where place: String, command: String) -> Finding? {
    let port = "\(subject.port)/tcp"
    switch verdict {
    case .open: return nil
    case .unsure:
      return Finding(
        .note, "firewall.port.unsure", "\(place) has rules for \(port) that cannot be judged here",
        remedy: "if another machine cannot connect: \(command)")
    case .closed:
      return Finding(
        subject.onlyPulls ? .warning : .blocking, "firewall.port",
        "\(place) keeps \(port) closed, so other machines cannot pull from here", remedy: command)
    }
  }

  /// Returns a finding about mDNS, which both sides need to find each other, or nil if its port is open.
  func multicastDNS(_ verdict: RuleSet.Verdict, where place: String, command: String) -> Finding? {
    switch verdict {
    case .open: return nil
    case .unsure:
      return Finding(
        .note, "firewall.mdns.unsure", "\(place) has rules for 5353/udp that cannot be judged here",
        remedy: "if machines do not find each other: \(command)")
    case .closed:
      return Finding(
        .blocking, "firewall.mdns", "\(place) keeps 5353/udp (mDNS) closed, so machines cannot find each other",
        remedy: command)
    }
  }

  func open(_ place: String) -> Finding {
    Finding(.ok, "firewall.open", "\(place) lets \(subject.port)/tcp and 5353/udp in")
  }

  /// Returns a finding that only root may read the rules.
  func hidden(_ place: String?, commands: [String]) -> Finding {
    let what = place.map { "\($0) is active; whether" } ?? "Whether a firewall"
    let rest = place == nil ? "keeps" : "it keeps"
    let otherwise = commands.isEmpty ? "" : "; or open them: \(commands.joined(separator: " && "))"
    return Finding(
      .note, "firewall.hidden",
      "\(what) \(rest) \(subject.port)/tcp or 5353/udp closed could not be looked at without root",
      remedy: "to look: \(subject.rootCommand)\(otherwise)")
  }
}
