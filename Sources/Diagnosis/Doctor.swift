import OperatingSystem

/// A diagnosis of common problems between machines on a home network, with remedies.
///
/// ```swift
/// let subject = Subject(home: "/home/casey/.local/share/hpeer", socketPath: "/run/user/1000/hpeer.sock", port: 8737)
/// let findings = await Doctor(subject).examine()
/// for finding in findings where finding.severity != .ok { print(finding.text, finding.remedy ?? "") }
/// ```
///
/// The examination changes nothing: no file is created, migrated or locked, and no port is opened that other programs
/// listen on. Paired machines that are contacted record this in their audit logs.
public struct Doctor: Sendable {
  private let checks: [any Check]
  private let clock: any Clock<Duration>

  /// Creates a diagnosis. Nothing is examined yet.
  public init(_ subject: Subject) {
    let machine = Machine.real
    self.init(checks: [
      BusCheck(machine: machine), AvahiCheck(machine: machine), ResponderCheck(machine: machine),
      MulticastCheck(machine: machine), ContainerCheck(machine: machine),
      FirewallCheck(subject: subject, machine: machine), PortCheck(subject: subject, machine: machine),
      ClockCheck(subject: subject, machine: machine), PermissionsCheck(subject: subject), DiskCheck(subject: subject),
      StoreCheck(subject: subject), IdentityCheck(subject: subject), PeersCheck(subject: subject),
      ContactCheck(subject: subject),
    ])
  }

  /// Creates a diagnosis with given checks.
  /// - Parameter clock: the clock for the time limits of the checks.
  init(checks: [any Check], clock: any Clock<Duration> = ContinuousClock()) {
    self.checks = checks
    self.clock = clock
  }

  /// Runs all checks concurrently and returns their findings, in the order of the checks. A check that exceeds its
  /// time limit is abandoned, and a finding says so.
  public func examine() async -> [Finding] {
    await withTaskGroup(of: (Int, [Finding]).self) { group in
      for (index, check) in checks.enumerated() {
        group.addTask { (index, await findings(of: check)) }
      }
      var found: [Int: [Finding]] = [:]
      for await (index, findings) in group { found[index] = findings }
      return checks.indices.flatMap { found[$0] ?? [] }
    }
  }

  private func findings(of check: any Check) async -> [Finding] {
    if let findings = await TimeLimit.run(check.limit, clock: clock, { await check.findings() }) { return findings }
    return [
      Finding(
        .warning, "\(check.id).timeout",
        "Looking at \(check.title) took longer than \(check.limit.components.seconds) s",
        remedy: "run `hpeer doctor` again when the machine is less busy")
    ]
  }
}

extension [Finding] {
  /// Whether no finding is blocking.
  public var areHealthy: Bool { !contains { $0.severity == .blocking } }
  /// The names of the paired machines that were contacted and not reached, whatever the severity.
  public var unreachedPeers: [String] {
    filter { ContactCheck.unreached.contains($0.id) }.compactMap(\.peer)
  }
}
