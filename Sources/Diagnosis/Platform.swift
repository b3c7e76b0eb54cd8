import Foundation

/// How things are done on this distribution: for commands that can be copied as they stand.
struct Platform: Sendable {
  /// systemd is what started this machine.
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

  /// The command that starts services.
  func start(_ services: String..., otherwise command: String) -> String {
    hasSystemd ? "sudo systemctl start \(services.joined(separator: " "))" : "no systemd runs here: \(command)"
  }
}

/// Words for a shell.
public enum Shell {
  /// `word`, in quotes if it needs them, so that a command can be copied whatever it contains.
  public static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+:%@".utf8.contains(byte)
      }
    }
    if isPlain, !word.isEmpty { return word }
    return "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
  }
}
