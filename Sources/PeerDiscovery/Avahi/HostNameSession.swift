import CAvahi

/// An answer from avahi-daemon about the addresses of a host.
enum HostNameAnswer: Sendable, Hashable {
  case address(String, DiscoveredService.AddressFamily)
  /// All known or requested addresses of a family have been reported.
  case end(DiscoveredService.AddressFamily)
}

/// A query for all addresses of a host, of both IP versions. Belongs to the thread of ``AvahiThread``.
///
/// Browses the address records: Avahi's host name resolver returns only one address per family, while a machine may
/// have several on an interface, and only another one may be reachable.
final class HostNameSession: AvahiSession {
  private let host: String
  private let report: (HostNameAnswer) -> Void
  /// The browsers, kept until the end: their C objects are freed with the connection, which the session outlives.
  private var browsers: [AddressBrowser] = []

  init(host: String, report: @escaping (HostNameAnswer) -> Void) {
    self.host = host
    self.report = report
  }

  func daemonChanged(to state: AvahiDaemonState, on connection: AvahiConnection) throws(DiscoveryError) {
    guard state != .absent else { throw .daemonNotRunning }
    guard browsers.isEmpty else { return }
    for family in DiscoveredService.AddressFamily.allCases {
      guard let browser = AddressBrowser(host, family, on: connection, report: report) else {
        throw connection.lastError
      }
      browsers.append(browser)
    }
  }

  func step(on connection: AvahiConnection) {}

  /// Ends the session: a name is looked up once, and the next lookup connects again.
  func connectionBroke(_ reason: DiscoveryError) throws(DiscoveryError) { throw reason }
}

/// A query for the address records of a host, of one IP version. Belongs to the thread of ``AvahiThread``.
private final class AddressBrowser {
  /// Record types of DNS: A (RFC 1035) and AAAA (RFC 3596).
  private static let (a, aaaa): (UInt16, UInt16) = (1, 28)
  /// The class of DNS for the Internet (RFC 1035 section 3.2.4).
  private static let internet: UInt16 = 1

  private let family: DiscoveredService.AddressFamily
  private let report: (HostNameAnswer) -> Void

  /// Returns nil if avahi-daemon does not accept the query.
  init?(
    _ host: String, _ family: DiscoveredService.AddressFamily, on connection: AvahiConnection,
    report: @escaping (HostNameAnswer) -> Void
  ) {
    self.family = family
    self.report = report
    let pointer = avahi_record_browser_new(
      connection.client, AVAHI_IF_UNSPEC.asCode, AVAHI_PROTO_UNSPEC.asCode, host, Self.internet,
      family == .ipv4 ? Self.a : Self.aaaa, AvahiLookupFlags(rawValue: 0),
      { _, interface, _, event, _, _, _, data, size, _, context in
        guard let context else { return }
        // The context is the browser, which the session keeps.
        Unmanaged<AddressBrowser>.fromOpaque(context).takeUnretainedValue()
          .browsed(event, UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size), interface)
      }, Unmanaged.passUnretained(self).toOpaque())
    if pointer == nil { return nil }
  }

  private func browsed(_ event: AvahiBrowserEvent, _ data: UnsafeRawBufferPointer, _ interface: AvahiIfIndex) {
    switch event {
    case AVAHI_BROWSER_NEW:
      if let text = AvahiValues.text(ofRecord: Array(data), family, interface: AvahiValues.interfaceName(interface)) {
        report(.address(text, family))
      }
    case AVAHI_BROWSER_ALL_FOR_NOW, AVAHI_BROWSER_FAILURE: report(.end(family))
    default: break
    }
  }
}
