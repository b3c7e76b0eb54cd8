import Foundation

/// The commands of this distribution, ready to copy.
struct Platform: Sendable {
  /// Whether this machine was booted with systemd.
  let hasSystemd: Bool
  private let families: Set<String>

  init(_ machine: Machine) {
    hasSystemd = machine.exists("/run/systemd/system")
    let release = machine.text("/etc/os-release") ?? ""
    families = Set(
      release.split(separator: "\n").filter { $0.hasPrefix("ID=") || $0.hasPrefix("ID_LIKE=") }
        .flatMap { $0.drop { $0 != "=" }.dropFirst().filter { $0 != "\"" }.split(separator: " ").map(String.init) })
  }

  /// The command that installs Avahi.
  var installAvahi: String {
    if families.contains("fedora") || families.contains("rhel") { return "sudo dnf install avahi" }
    if families.contains("arch") { return "sudo pacman -S avahi" }
    if families.contains("suse") || families.contains("opensuse") { return "sudo zypper install avahi" }
    if families.contains("alpine") { return "sudo apk add avahi" }
    return "sudo apt install avahi-daemon"
  }

  /// Returns the command that starts services.
  func start(_ services: String..., otherwise command: String) -> String {
    hasSystemd ? "sudo systemctl start \(services.joined(separator: " "))" : "no systemd runs here: \(command)"
  }
}
