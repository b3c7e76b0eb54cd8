import Foundation
import OperatingSystem

/// A check of the D-Bus system bus, through which avahi-daemon is reached.
struct BusCheck: Check {
  let id = "dbus"
  let title = "D-Bus"
  var machine: Machine
  var address = ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"]
  /// Connects to a socket. Returns 0, or an `errno` value.
  var connect: @Sendable (String) -> Int32 = SocketProbe.connect(to:)

  private static let defaultPath = "/run/dbus/system_bus_socket"

  func findings() async -> [Finding] {
    guard let path = Self.path(of: address) else {
      return [Finding(.ok, "dbus.elsewhere", "D-Bus is reached as DBUS_SYSTEM_BUS_ADDRESS says")]
    }
    let code = await onThread { [connect] _ in connect(path) }
    if code == 0 { return [Finding(.ok, "dbus.ok", "The D-Bus system bus answers")] }
    let platform = Platform(machine)
    return [
      Finding(
        .blocking, "dbus.absent", "The D-Bus system bus does not answer at \(path) (\(SystemMessage.text(code)))",
        remedy: platform.start(
          "dbus", "avahi-daemon", otherwise: "sudo service dbus start && sudo service avahi-daemon start"))
    ]
  }

  /// Returns the path of the first Unix socket in a bus address; nil if the bus is reached in another way.
  static func path(of address: String?) -> String? {
    guard let address, !address.isEmpty else { return defaultPath }
    for entry in address.split(separator: ";") where entry.hasPrefix("unix:") {
      for pair in entry.dropFirst(5).split(separator: ",") where pair.hasPrefix("path=") {
        return String(pair.dropFirst(5)).removingPercentEncoding
      }
    }
    return nil
  }
}
