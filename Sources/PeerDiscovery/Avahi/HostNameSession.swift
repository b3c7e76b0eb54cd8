import CAvahi

/// What avahi-daemon says about a host's name and one IP version; without an address nobody has answered.
struct HostNameAnswer: Sendable, Hashable {
  var family: DiscoveredService.AddressFamily
  var address: String?
}

/// Asks for a host's addresses of both IP versions. Belongs to the thread of ``AvahiThread``.
final class HostNameSession: AvahiSession {
  private let host: String
  private let report: (HostNameAnswer) -> Void
  /// Kept to the end: their C objects are freed with the connection, which the session outlives.
  private var resolvers: [HostNameResolver] = []

  init(host: String, report: @escaping (HostNameAnswer) -> Void) {
    self.host = host
    self.report = report
  }

  func daemonChanged(to state: AvahiDaemonState, on connection: AvahiConnection) throws(DiscoveryError) {
    guard state != .absent else { throw .daemonNotRunning }
    guard resolvers.isEmpty else { return }
    for family in DiscoveredService.AddressFamily.allCases {
      guard let resolver = HostNameResolver(host, family, on: connection, report: report) else {
        throw connection.lastError
      }
      resolvers.append(resolver)
    }
  }

  func step(on connection: AvahiConnection) {}

  /// A name is looked up once: whoever asks again connects again.
  func connectionBroke(_ reason: DiscoveryError) throws(DiscoveryError) { throw reason }
}

/// Asks for one address of a host. Belongs to the thread of ``AvahiThread``.
private final class HostNameResolver {
  private let family: DiscoveredService.AddressFamily
  private let report: (HostNameAnswer) -> Void

  /// `nil` if avahi-daemon does not take the question.
  init?(
    _ host: String, _ family: DiscoveredService.AddressFamily, on connection: AvahiConnection,
    report: @escaping (HostNameAnswer) -> Void
  ) {
    self.family = family
    self.report = report
    let version = family == .ipv4 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6
    let pointer = avahi_host_name_resolver_new(
      connection.client, AVAHI_IF_UNSPEC.asCode, AVAHI_PROTO_UNSPEC.asCode, host, version.asCode,
      AvahiLookupFlags(rawValue: 0),
      { _, interface, _, event, _, address, _, context in
        guard let context else { return }
        // The context is the resolver, which the session keeps.
        let resolver = Unmanaged<HostNameResolver>.fromOpaque(context).takeUnretainedValue()
        let found = event == AVAHI_RESOLVER_FOUND ? address?.pointee : nil
        resolver.report(
          HostNameAnswer(
            family: resolver.family, address: found.flatMap { HostNameResolver.text($0, interface: interface) }))
      }, Unmanaged.passUnretained(self).toOpaque())
    if pointer == nil { return nil }
  }

  private static func text(_ address: AvahiAddress, interface: AvahiIfIndex) -> String? {
    let name = AvahiValues.interfaceName(interface)
    guard ConnectableAddress.isUsable(AvahiValues.bytes(address), isFromLoopback: name == "lo") else { return nil }
    return AvahiValues.text(address, interface: name)
  }
}
