import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// The metrics of a running server, for monitoring: numbers and the first digits of IDs, but no names, types or
/// values.
public struct ServerMetrics: Sendable {
  private let home: Home
  private let local: LocalPeer
  private let version: String

  /// Creates metrics for a home.
  ///
  /// - Parameter version: the version of this program.
  public init(_ home: Home, _ local: LocalPeer, version: String) {
    (self.home, self.local, self.version) = (home, local, version)
  }

  /// Returns the metrics in the Prometheus text format, version 0.0.4. Values that cannot be read are left out.
  public func text() async -> String {
    var page = MetricsPage()
    page.add("hpeer_build_info", "The version of hpeer.", 1, ["version": version])
    let (usage, space, files) = await onThread { [home] _ in
      (ProcessUsage.current(), DiskSpace(path: home.directory), Self.sizes(home.directory))
    }
    if let usage {
      page.add("process_start_time_seconds", "When the process began.", usage.started)
      page.add("process_resident_memory_bytes", "Memory of the process.", Double(usage.residentBytes))
      page.add("process_open_fds", "Open file descriptors.", Double(usage.descriptors))
      page.add("process_cpu_seconds_total", "Processor time.", usage.processorSeconds, kind: "counter")
    }
    if let space { page.add("hpeer_disk_free_bytes", "Free on the disk of the record.", Double(space.freeBytes)) }
    page.add("hpeer_store_bytes", "The record's database.", files.store)
    page.add("hpeer_store_log_bytes", "Its write-ahead log.", files.log)
    if let counts = try? await local.store.samples.typeCounts() {
      page.add("hpeer_samples", "Samples in the record.", Double(counts.reduce(0) { $0 + $1.samples }))
    }
    if let anchor = try? await local.store.feed.currentAnchor() {
      page.add("hpeer_changes_total", "Changes that were ever numbered.", Double(anchor.change), kind: "counter")
    }
    await addPeers(&page)
    await addDestinations(&page)
    return page.text
  }

  private static func sizes(_ directory: String) -> (store: Double, log: Double) {
    func size(_ name: String) -> Double {
      Double((try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")[.size] as? Int) ?? 0)
    }
    return (size(HealthStore.fileName), size(HealthStore.fileName + "-wal"))
  }

  private func addPeers(_ page: inout MetricsPage) async {
    if let end = local.identity.validity?.end {
      page.add(
        "hpeer_certificate_expires_timestamp_seconds", "When this machine's certificate ends.",
        end.timeIntervalSince1970)
    }
    if let locked = try? await local.registry.lockedSince() != nil {
      page.add("hpeer_locked", "1 while paired machines get no answer.", locked ? 1 : 0)
    }
    guard let clients = try? await local.registry.clients().filter({ $0.revoked == nil }),
      let servers = try? await local.registry.servers()
    else { return }
    let count = "Paired machines."
    page.add("hpeer_peers", count, Double(clients.count), ["role": "client"])
    page.add("hpeer_peers", count, Double(servers.count), ["role": "server"])
    let seen =
      clients.map { ("client", $0.id.short, $0.lastSeen, Optional($0.expires)) }
      + servers.map { ("server", $0.id.short, $0.lastUsed, $0.expires) }
    for (role, id, seen, _) in seen {
      guard let seen else { continue }
      page.add(
        "hpeer_peer_seen_timestamp_seconds", "When a paired machine was met last.", seen.timeIntervalSince1970,
        ["role": role, "id": id])
    }
    for (role, id, _, expires) in seen {
      guard let expires else { continue }
      page.add(
        "hpeer_peer_expires_timestamp_seconds", "When a pairing ends, unless it is used.",
        expires.timeIntervalSince1970, ["role": role, "id": id])
    }
  }

  private func addDestinations(_ page: inout MetricsPage) async {
    guard let states = try? await local.store.deliveries.all() else { return }
    let help = "Destinations, by how they are."
    page.add("hpeer_destinations", help, Double(states.count { $0.paused != nil }), ["state": "paused"])
    page.add(
      "hpeer_destinations", help, Double(states.count { $0.paused == nil && $0.failing != nil }), ["state": "failing"])
    page.add(
      "hpeer_destinations", help, Double(states.count { $0.paused == nil && $0.failing == nil }), ["state": "well"])
    page.add(
      "hpeer_delivered_total", "Samples and deletions that were delivered.",
      Double(states.reduce(0) { $0 + $1.delivered }), kind: "counter")
  }
}

/// A page in the Prometheus text format.
struct MetricsPage {
  private(set) var text = ""
  private var named: Set<String> = []

  /// Adds a value. Values of the same name must be added one after the other.
  ///
  /// - Parameter labels: values without quotes, backslashes and line ends.
  mutating func add(
    _ name: String, _ help: String, _ value: Double, _ labels: [String: String] = [:], kind: String = "gauge"
  ) {
    // Each name has one header, and its values follow it directly.
    if named.insert(name).inserted { text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n" }
    let list = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\($0.value)\"" }.joined(separator: ",")
    let number = value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    text += "\(name)\(list.isEmpty ? "" : "{\(list)}") \(number)\n"
  }
}
