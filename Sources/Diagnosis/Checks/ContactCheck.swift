import Foundation
import OperatingSystem
import PeerClient
import PeerTrust

/// A check that contacts the servers of this machine over the network: all of them briefly, or one step by step.
struct ContactCheck: Check {
  let id = "peer"
  let title = "the paired machines over the network"
  var subject: Subject
  var machine = Machine.real
  var servers: @Sendable () async -> [ServerRecord]
  /// Returns a function that contacts a machine. Called only if there is at least one.
  var tester: @Sendable () async -> @Sendable (ServerRecord, _ asksOtherEnd: Bool) async -> PeerDiagnosis

  /// The time limit: enough to listen for announcements, make a handshake and get three answers. All machines are
  /// contacted concurrently.
  let limit = Duration.seconds(25)

  /// The ids of findings for machines that were not reached, without and with a name on the command line.
  static let unreached: Set = ["peer.away", "peer.unreachable"]

  /// The tolerated difference between two clocks, in seconds. Smaller differences do no harm although codes and
  /// tokens expire.
  private static let tolerance = 120.0
  /// The maximum number of addresses in a message. A machine has few, but any machine on the network can announce
  /// more in its name.
  private static let maximumNames = 4

  init(subject: Subject) {
    self.subject = subject
    servers = { (try? await PeerRegistry.inspect(in: subject.homeURL))?.servers ?? [] }
    tester = {
      let tester = PeerDiagnostics(identity: try? await IdentityStore.existing(in: subject.homeURL))
      return { await tester.tryOut($0, asksOtherEnd: $1) }
    }
  }

  /// Returns the findings. Empty if this machine pulls from no other; ``PeersCheck`` reports that.
  func findings() async -> [Finding] {
    let all = await servers().filter { subject.peer == nil || $0.id == subject.peer }
    let (servers, apps) = (all.filter { !$0.traits.isApp }, all.filter(\.traits.isApp))
    guard !servers.isEmpty else { return subject.peer == nil ? [] : apps.compactMap(Self.app) }
    let tryOut = await tester()
    return await withTaskGroup(of: (Int, [Finding]).self) { group in
      for (index, server) in servers.enumerated() {
        group.addTask {
          var findings = await findings(on: server, tryOut)
          for place in findings.indices { findings[place].peer = server.name }
          return (index, findings)
        }
      }
      var found: [Int: [Finding]] = [:]
      for await (index, findings) in group { found[index] = findings }
      return servers.indices.flatMap { found[$0] ?? [] }
    }
  }

  private func findings(
    on server: ServerRecord, _ tryOut: @Sendable (ServerRecord, _ asksOtherEnd: Bool) async -> PeerDiagnosis
  ) async -> [Finding] {
    let isNamed = subject.peer != nil
    let trial = await tryOut(server, isNamed)
    let steps = steps(with: server, trial)
    guard isNamed else { return Self.short(steps, of: server) }
    let otherEnd = OtherEnd(server: server, words: subject.scopeWords)
    return steps + otherEnd.findings(try? trial.answer?.get().otherEnd)
  }

  /// Returns a hint for an app, which is only reachable while it is open. That is not a fault; a pull reports
  /// problems.
  private static func app(_ server: ServerRecord) -> Finding? {
    server.traits.advice.map { advice in
      Finding(
        .note, "peer.app", "\(server.name) is the app \(server.dialect) on a phone, which is there while it is open",
        remedy: "\(advice); then: hpeer pull \(ShellWord.quoted(server.name))")
    }
  }

  /// Returns a single finding if all is well with the machine, else only the problems.
  private static func short(_ steps: [Finding], of server: ServerRecord) -> [Finding] {
    let rest = steps.filter { $0.severity != .ok }
    guard rest.isEmpty else { return rest }
    return [
      Finding(.ok, "peer.ok", "\(server.name) answers, with its own certificate, and accepts this machine")
    ]
  }

  /// Returns a finding for each step, up to the first that fails.
  private func steps(with server: ServerRecord, _ trial: PeerDiagnosis) -> [Finding] {
    let reached = port(server, trial)
    let before = (announcement(server, trial).map { [$0, reached] } ?? [reached]) + way(server, trial)
    guard let answer = trial.answer else { return before + [impostor(server, trial)].compactMap(\.self) }
    let certificate = Finding(
      .ok, "peer.certificate",
      "\(server.name) shows the certificate that was paired with: \(server.fingerprint.grouped)")
    switch answer {
    case .failure(let error):
      return before + [
        certificate,
        Finding(
          severity, "peer.silent", "\(server.name) took the connection, and then: \(error)",
          remedy: "on \(server.name): stop `hpeer serve` and start it again; then `hpeer doctor` there"),
      ]
    case .success(let statement):
      return before + [certificate, token(server, statement), clock(server, statement), name(server, statement)]
    }
  }

  /// The severity for an unreachable machine: one that was not named on the command line may be switched off.
  private var severity: Finding.Severity { subject.peer == nil ? .note : .blocking }

  // MARK: Where it is

  private func announcement(_ server: ServerRecord, _ trial: PeerDiagnosis) -> Finding? {
    let announced = trial.addresses.filter(\.isAnnounced)
    if !announced.isEmpty {
      return Finding(.ok, "peer.announced", "\(server.name) is announced at \(Self.list(announced))")
    }
    // A machine that does not answer is reported once; the missing announcement would be a second line for the same
    // problem.
    guard subject.peer != nil || trial.answer != nil else { return nil }
    let last = trial.addresses.isEmpty ? "" : "; it was last at \(Self.list(trial.addresses))"
    if let reason = trial.deafness {
      // ``AvahiCheck`` has reported that already.
      guard subject.peer != nil else { return nil }
      return Finding(
        .warning, "peer.unheard", "Whether \(server.name) is announced cannot be told\(last)", remedy: reason)
    }
    return Finding(
      .warning, "peer.unannounced",
      "\(server.name) is not announced on this network (listened for \(PeerDiagnostics.listening.components.seconds) s)"
        + last,
      remedy: "on \(server.name): see that `hpeer serve` runs, then `hpeer doctor`, which knows its avahi-daemon and "
        + "firewall; without announcements: hpeer pull --host NAME:PORT")
  }

  private func port(_ server: ServerRecord, _ trial: PeerDiagnosis) -> Finding {
    if let place = trial.addresses.first(where: { $0.outcome == .proven }) {
      let failures = trial.addresses.filter { $0.outcome != .proven }
      let rest = failures.isEmpty ? "" : " (not at \(Self.reasons(failures)))"
      return Finding(.ok, "peer.reached", "\(server.name) answers at \(place.endpoint)\(rest)")
    }
    let tried = trial.addresses.isEmpty ? "no address is known" : Self.reasons(trial.addresses)
    return Finding(
      severity, subject.peer == nil ? "peer.away" : "peer.unreachable", "\(server.name) is not reached: \(tried)",
      remedy: subject.peer == nil
        ? "if it should be there: hpeer doctor \(ShellWord.quoted(server.name))"
        : "on \(server.name): start `hpeer serve`; if it runs, `sudo hpeer doctor` there has the command for its "
          + "firewall")
  }

  /// Returns why the first unreachable address cannot be reached, as far as this machine can tell. Only if a machine
  /// was named.
  private func way(_ server: ServerRecord, _ trial: PeerDiagnosis) -> [Finding] {
    guard subject.peer != nil, !trial.addresses.contains(where: { $0.outcome == .proven }) else { return [] }
    for place in trial.addresses {
      guard case .unreachable = place.outcome, let address = IPv4Address(place.endpoint.host) else { continue }
      switch machine.way(address) {
      case .unknown: continue
      case .none:
        return [
          Finding(
            .warning, "peer.noRoute", "This machine has no way to \(address): it is in none of its networks",
            remedy: "join the network that \(server.name) is in; `ip route get \(address)` says the same")
        ]
      case .from(let own):
        guard let interface = machine.interfaces().first(where: { $0.address == own }) else { continue }
        if interface.isTunnel {
          return [
            Finding(
              .warning, "peer.tunnel",
              "Packets to \(address) leave by \(interface.name), a tunnel: a VPN that takes everything keeps this machine "
                + "from its own network",
              remedy: "have the VPN leave the local network alone, or end it; then: hpeer doctor "
                + ShellWord.quoted(server.name))
          ]
        }
        return [neighbour(address, of: server, behind: interface)].compactMap(\.self)
      }
    }
    return []
  }

  /// Returns whether any machine in the same network has the address, or `nil` if that is unknown.
  private func neighbour(_ address: IPv4Address, of server: ServerRecord, behind interface: NetworkInterface)
    -> Finding?
  {
    let rows = (machine.text("/proc/net/arp") ?? "").split(separator: "\n").dropFirst()
      .map { $0.split(separator: " ") }
    guard let row = rows.first(where: { $0.count >= 6 && $0[0] == address.description }) else { return nil }
    guard row[2] == "0x0" else {
      return Finding(
        .note, "peer.present",
        "A machine has the address \(address), on \(interface.name): it is on, and does not let this in")
    }
    return Finding(
      .note, "peer.absent", "No machine on \(interface.name) has the address \(address) now",
      remedy: "switch \(server.name) on; if it has another address by now, `hpeer discover` finds it")
  }

  /// Returns a finding if another machine announces this one's id with another certificate and the real one was not
  /// found.
  private func impostor(_ server: ServerRecord, _ trial: PeerDiagnosis) -> Finding? {
    for address in trial.addresses where address.claimsID {
      guard case .otherCertificate(let seen) = address.outcome else { continue }
      return Finding(
        .blocking, "peer.otherCertificate",
        "What answers at \(address.endpoint) shows another certificate than \(server.name)'s: \(seen.grouped)",
        remedy: "ask \(server.name)'s owner, in person or by phone, what `hpeer identity` prints there; only if it is "
          + "that: hpeer unpair \(ShellWord.quoted(server.name)), and pair again")
    }
    return nil
  }

  // MARK: What it says

  private func token(_ server: ServerRecord, _ statement: PeerDiagnosis.Statement) -> Finding {
    switch statement.token {
    case .accepted: Finding(.ok, "peer.token", "\(server.name) lets this machine read")
    case .refused:
      Finding(
        subject.peer == nil ? .warning : .blocking, "peer.refused",
        "\(server.name) does not accept this machine any more: revoked, away too long, or this machine has a new "
          + "certificate",
        remedy: "hpeer pair \(ShellWord.quoted(server.name)); `hpeer peers` and `hpeer audit` on \(server.name) say why"
      )
    case .locked:
      Finding(
        .warning, "peer.locked", "\(server.name) is locked by its owner, and answers no paired machine",
        remedy: "on \(server.name): hpeer unlock")
    case .unclear(let reason):
      Finding(.warning, "peer.unclear", "Whether \(server.name) lets this machine read cannot be told: \(reason)")
    case .untried:
      Finding(
        .warning, "peer.untried",
        "Whether \(server.name) lets this machine read was not tried, because this machine's own key cannot be used",
        remedy: "see the line about this machine's identity")
    }
  }

  private func clock(_ server: ServerRecord, _ statement: PeerDiagnosis.Statement) -> Finding {
    guard let lead = statement.clockLead, lead.isFinite else {
      return Finding(.note, "peer.clock.unknown", "\(server.name) does not say what its clock shows")
    }
    guard abs(lead) > Self.tolerance else {
      return Finding(.ok, "peer.clock", "\(server.name)'s clock and this one agree")
    }
    // The other machine may send any number, and a Duration cannot hold all of them.
    let amount = Duration.seconds(min(abs(lead), 1e12).rounded())
      .formatted(
        .units(allowed: [.days, .hours, .minutes, .seconds], width: .wide, maximumUnitCount: 2)
          .locale(Locale(identifier: "en_US")))
    return Finding(
      .warning, "peer.clock.apart",
      "\(server.name)'s clock is \(amount) \(lead > 0 ? "ahead of" : "behind") this one: codes and tokens may look "
        + "expired",
      remedy: "on the machine that is wrong: sudo timedatectl set-ntp true")
  }

  private func name(_ server: ServerRecord, _ statement: PeerDiagnosis.Statement) -> Finding {
    let isSame = DiscoveredPeer.isInstance(statement.name, of: server.name)
    return Finding(
      isSame ? .ok : .note, "peer.says",
      isSame
        ? "\(server.name) runs hpeer \(statement.version)"
        : "\(server.name) calls itself \(statement.name) now, and runs hpeer \(statement.version)")
  }

  // MARK: Words

  private static func list(_ addresses: [PeerDiagnosis.Address]) -> String {
    joined(addresses.map(\.endpoint.description), by: ", ")
  }

  private static func reasons(_ addresses: [PeerDiagnosis.Address]) -> String {
    joined(addresses.map { "\($0.endpoint): \(words(for: $0.outcome))" }, by: "; ")
  }

  private static func joined(_ texts: [String], by separator: String) -> String {
    let rest = texts.count - maximumNames
    return texts.prefix(maximumNames).joined(separator: separator) + (rest > 0 ? " and \(rest) more" : "")
  }

  private static func words(for outcome: PeerDiagnosis.Outcome) -> String {
    switch outcome {
    case .unreachable(let reason): reason
    case .notTLS(let reason): "something listens there, but \(reason)"
    case .otherCertificate: "another machine answers"
    case .proven: "answers"
    }
  }
}
