/// A lookup of host addresses on the local network, through avahi-daemon, on every interface and over both IP
/// versions.
///
/// ```swift
/// for address in try await HostNameLookup().addresses(of: "studio.local") { print(address) }
/// ```
///
/// The system's resolver often cannot resolve `.local` names, or only those with an IPv4 address.
public struct HostNameLookup: Sendable {
  /// The default time limit. A host that is present answers sooner, even if it is asked twice.
  public static let patience = Duration.seconds(3)
  private static let momentForOtherAddresses = Duration.milliseconds(200)

  /// Creates a lookup. Does not connect yet.
  public init() {}

  /// Returns whether `host` is a name in the domain of multicast DNS (RFC 6762 section 3).
  public static func isLocal(_ host: String) -> Bool {
    let name = host.lowercased()
    return (name.hasSuffix(".local") || name.hasSuffix(".local.")) && !name.hasPrefix(".")
  }

  /// The maximum number of addresses returned per family: a hostile host may announce any number.
  static let mostAddresses = 8

  /// Returns all numeric addresses of a host, IPv4 first; a link-local IPv6 address ends in `%` and the interface. Returns none
  /// if no host answers to the name within `limit`.
  ///
  /// Throws ``DiscoveryError`` if avahi-daemon cannot be reached, and `CancellationError`.
  public func addresses(of host: String, within limit: Duration = patience) async throws -> [String] {
    let answers = answers(for: host)
    let found = try await gather(for: limit, moment: Self.momentForOtherAddresses) { hasEnough in
      var addresses: [DiscoveredService.AddressFamily: [String]] = [:]
      var open = Set(DiscoveredService.AddressFamily.allCases)
      for try await answer in answers {
        switch answer {
        case .address(let address, let family):
          guard addresses[family, default: []].count < Self.mostAddresses, addresses[family]?.contains(address) != true
          else { continue }
          addresses[family, default: []].append(address)
          hasEnough()
        case .end(let family): open.remove(family)
        }
        // Return early only if there is an address: a sleeping host answers the second query.
        if open.isEmpty, !addresses.isEmpty { break }
      }
      return DiscoveredService.AddressFamily.allCases.flatMap { addresses[$0] ?? [] }
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
