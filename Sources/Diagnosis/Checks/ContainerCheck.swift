import OperatingSystem

/// A check for a container without the host's network, which multicast cannot reach.
struct ContainerCheck: Check {
  let id = "container"
  let title = "the container"
  var machine: Machine

  func findings() async -> [Finding] {
    guard let kind = kind() else { return [Finding(.ok, "container.none", "This is not a container")] }
    let interfaces = machine.interfaces().filter(\.leadsOut)
    let addresses = interfaces.compactMap(\.address)
    let isBridged = addresses.allSatisfy { address in
      Self.bridgedNetworks.contains { address.isIn($0.0, prefixLength: $0.1) }
    }
    guard isBridged else {
      return [Finding(.ok, "container.connected", "This is a container (\(kind)) with an address of the outer network")]
    }
    return [
      Finding(
        .warning, "container.bridged",
        "This is a container (\(kind)) without the host's network: multicast does not get in or out",
        remedy: "run it with --network host, or mount the host's /run/dbus/system_bus_socket and publish the port; "
          + "`hpeer pull --host NAME:PORT` works without either")
    ]
  }

  /// The default networks of Docker, Podman, Kubernetes on them, and user-mode networking.
  private static let bridgedNetworks: [(IPv4Address, Int)] = [
    (IPv4Address(value: 0xAC10_0000), 12), (IPv4Address(value: 0x0A58_0000), 16), (IPv4Address(value: 0x0A00_0200), 24),
  ]

  private func kind() -> String? {
    if machine.exists("/run/.containerenv") { return "Podman" }
    if machine.exists("/.dockerenv") { return "Docker" }
    if let name = machine.text("/run/systemd/container")?.split(separator: "\n").first { return String(name) }
    let groups = machine.text("/proc/1/cgroup") ?? ""
    return ["docker", "kubepods", "containerd", "libpod", "lxc"].first { groups.contains("/\($0)") }
  }
}
