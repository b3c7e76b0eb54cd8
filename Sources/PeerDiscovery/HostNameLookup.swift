/// Asks the local network for the addresses of a host, through avahi-daemon, on every interface and over both IP versions.
///
/// ```swift
/// for address in try await HostNameLookup().addresses(of: "studio.local") { print(address) }
/// ```
///
/// The system's own resolver often knows no `.local` names, or none with an IPv6 address only.
public struct HostNameLookup: Sendable {
  /// Longer than a host that is there takes to answer, even one that was asked twice.
  public static let patience = Duration.seconds(3)
  private static let momentForOtherAddresses = Duration.milliseconds(200)

  /// Connects to nothing yet.
  public init() {}

  /// Whether `host` is a name that multicast DNS answers for (RFC 6762 section 3).
  public static func isLocal(_ host: String) -> Bool {
    let name = host.lowercased()
    return (name.hasSuffix(".local") || name.hasSuffix(".local.")) && !name.hasPrefix(".")
  }

  /// Numeric addresses, IPv4 first; a link-local IPv6 address ends in `%` and the interface. None if nobody answers to
  /// the name within `limit`.
  ///
  /// Throws ``DiscoveryError`` if avahi-daemon cannot be reached, and `CancellationError`.
  public func addresses(of host: String, within limit: Duration = patience) async throws -> [String] {
    let answers = answers(for: host)
    let found = try await gather(for: limit, moment: Self.momentForOtherAddresses) { hasEnough in
      var addresses: [DiscoveredService.AddressFamily: String] = [:]
      var open = Set(DiscoveredService.AddressFamily.allCases)
      for try await answer in answers {
        open.remove(answer.family)
        if let address = answer.address {
          addresses[answer.family] = address
          hasEnough()
        }
        if open.isEmpty { break }
      }
      return DiscoveredService.AddressFamily.allCases.compactMap { addresses[$0] }
    }
    try Task.checkCancellation()
    return found ?? []
  }

  private func answers(for host: String) -> AsyncThrowingStream<HostNameAnswer, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task {
        do {
          try await AvahiThread().run { HostNameSession(host: host) { continuation.yield($0) } }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}
