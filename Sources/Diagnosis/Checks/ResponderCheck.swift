import OperatingSystem

/// A check for other mDNS responders beside avahi-daemon: two responders compete for the host's name.
struct ResponderCheck: Check {
  let id = "responder"
  let title = "port 5353"
  var machine: Machine

  private static let port: UInt16 = 5353
  /// Programs that listen on the port for speakers and screens but answer nothing.
  private static let listenersOnly = [
    "chrome", "chromium", "brave", "msedge", "vivaldi", "opera", "firefox", "spotify",
  ]

  func findings() async -> [Finding] {
    await onThread { _ in look() }
  }

  private func look() -> [Finding] {
    let sockets = machine.sockets("udp").filter { $0.port == Self.port }
    let owners = machine.owners(Set(sockets.map(\.inode)))
    var others: [Finding] = []
    for socket in sockets {
      let user = machine.userName(socket.user)
      if let finding = finding(owner: owners[socket.inode], user: user), !others.contains(finding) {
        others.append(finding)
      }
    }
    return others.isEmpty
      ? [Finding(.ok, "responder.ok", "No other mDNS responder is on port 5353")] : others
  }

  /// Returns a finding, or nil for Avahi and for programs that only listen. If the process is not visible, its user
  /// is used.
  private func finding(owner: SocketOwner?, user: String?) -> Finding? {
    let name = owner?.name ?? user ?? ""
    // The kernel's `comm` has at most 15 bytes.
    if name.hasPrefix("avahi") { return nil }
    if name.hasPrefix("systemd-resolve") {
      return Finding(
        .warning, "responder.resolved", "systemd-resolved answers mDNS beside avahi-daemon",
        remedy: "sudo mkdir -p /etc/systemd/resolved.conf.d && printf '[Resolve]\\nMulticastDNS=no\\n' | "
          + "sudo tee /etc/systemd/resolved.conf.d/no-mdns.conf && sudo systemctl restart systemd-resolved")
    }
    guard let owner else {
      return Finding(
        .note, "responder.unknown",
        "A program of the user \(user ?? "?") is on port 5353 too; which one cannot be seen",
        remedy: "to see it: sudo ss -ulpn sport = :5353")
    }
    if Self.listenersOnly.contains(where: owner.name.hasPrefix) { return nil }
    let isKDEConnect = owner.name.hasPrefix("kdeconnect")
    return Finding(
      .warning, "responder.other",
      "\(isKDEConnect ? "KDE Connect" : owner.name) (process \(owner.pid)) is on port 5353 beside avahi-daemon",
      remedy: isKDEConnect
        ? "update KDE Connect to 25.12 or later, which uses avahi-daemon, or end it: kill \(owner.pid)"
        : "if this machine's name changes by itself (name-2, name-3), end it: sudo kill \(owner.pid)")
  }
}
