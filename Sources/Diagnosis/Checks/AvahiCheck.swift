import PeerDiscovery

/// A check that avahi-daemon is running and answers over D-Bus.
struct AvahiCheck: Check {
  let id = "avahi"
  let title = "avahi-daemon"
  var machine: Machine
  var ask: @Sendable () async throws -> Void = { try await ServiceBrowser().reachDaemon(within: .seconds(5)) }

  private static let configuration = "/etc/avahi/avahi-daemon.conf"

  func findings() async -> [Finding] {
    do {
      try await ask()
    } catch let error as DiscoveryError {
      return [finding(for: error)]
    } catch {
      return [Finding(.warning, "avahi.unknown", "avahi-daemon could not be asked (\(error))")]
    }
    let running = Finding(.ok, "avahi.ok", "avahi-daemon is running and answers")
    return [publishing(machine.text(Self.configuration) ?? "") ?? running]
  }

  private func finding(for error: DiscoveryError) -> Finding {
    let platform = Platform(machine)
    switch error {
    case .daemonNotRunning:
      let isInstalled = ["/usr/sbin/avahi-daemon", "/usr/bin/avahi-daemon"].contains(where: machine.exists)
      return isInstalled
        ? Finding(
          .blocking, "avahi.stopped", "avahi-daemon is not running, so machines cannot find each other by name",
          remedy: platform.start("avahi-daemon", otherwise: "sudo service avahi-daemon start"))
        : Finding(
          .blocking, "avahi.absent", "avahi-daemon is not installed, so machines cannot find each other by name",
          remedy: platform.installAvahi)
    case .noDBus:
      return Finding(.note, "avahi.unknown", "avahi-daemon could not be asked, because D-Bus does not answer")
    default:
      return Finding(
        .blocking, "avahi.failing", "avahi-daemon does not answer as it should: \(error)",
        remedy: platform.hasSystemd ? "sudo systemctl restart avahi-daemon" : "sudo service avahi-daemon restart")
    }
  }

  /// Returns a finding if the daemon's configuration forbids what `hpeer serve` needs.
  private func publishing(_ configuration: String) -> Finding? {
    for key in ["disable-publishing", "disable-user-service-publishing"] {
      let isSet = configuration.split(separator: "\n").contains {
        $0.filter { $0 != " " } == "\(key)=yes"
      }
      guard isSet else { continue }
      return Finding(
        .warning, "avahi.mute", "avahi-daemon may not announce services of users, so `hpeer serve` stays unseen",
        remedy: "set \(key)=no in \(Self.configuration), then: sudo systemctl restart avahi-daemon")
    }
    return nil
  }
}
