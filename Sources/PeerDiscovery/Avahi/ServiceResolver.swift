import CAvahi

/// An announcement as identified by Avahi.
struct ServiceKey: Hashable {
  var name: [UInt8]
  var domain: [UInt8]
  var interface: AvahiIfIndex
  var proto: AvahiProtocol

  var text: String { InstanceName.repaired(name) }
}

/// A resolver for one announcement, which keeps asking until it is freed. Belongs to the thread of ``AvahiThread``.
final class ServiceResolver {
  private unowned let session: BrowseSession
  private let key: ServiceKey
  private var pointer: OpaquePointer?

  /// Creates a resolver; `nil` if avahi-daemon rejects the query.
  init?(_ key: ServiceKey, type: String, session: BrowseSession, on connection: AvahiConnection) {
    self.session = session
    self.key = key
    // The query uses the same IP version as the address in its answer, so each entry is one way to connect.
    pointer = avahi_service_resolver_new(
      connection.client, key.interface, key.proto, key.name.map { CChar(bitPattern: $0) } + [0], type,
      key.domain.map { CChar(bitPattern: $0) } + [0], key.proto, AvahiLookupFlags(rawValue: 0),
      { _, interface, _, event, _, _, _, host, address, port, txt, flags, context in
        guard let context else { return }
        // The context is the resolver, which the session keeps until the C object is freed.
        let resolver = Unmanaged<ServiceResolver>.fromOpaque(context).takeUnretainedValue()
        guard event == AVAHI_RESOLVER_FOUND, let host, let address,
          let service = resolver.service(
            at: address.pointee, port: port, interface: interface, host: AvahiValues.bytes(host),
            txt: AvahiValues.strings(txt), flags: flags)
        else { return resolver.session.failed(resolver.key) }
        resolver.session.resolved(resolver.key, as: service)
      }, Unmanaged.passUnretained(self).toOpaque())
    if pointer == nil { return nil }
  }

  /// Frees the C object. Call it at most once and before the connection ends, which frees the object as well.
  func free() {
    guard let pointer else { return }
    self.pointer = nil
    avahi_service_resolver_free(pointer)
  }

  private func service(
    at address: AvahiAddress, port: UInt16, interface: AvahiIfIndex, host: [UInt8], txt: [[UInt8]],
    flags: AvahiLookupResultFlags
  ) -> DiscoveredService? {
    let interfaceName = AvahiValues.interfaceName(interface)
    guard port != 0, let family = AvahiValues.family(address.proto),
      ConnectableAddress.isUsable(AvahiValues.bytes(address), isFromLoopback: interfaceName == "lo"),
      let text = AvahiValues.text(address, interface: interfaceName)
    else { return nil }
    return DiscoveredService(
      name: key.text,
      hostName: InstanceName.repaired(host, maximumBytes: InstanceName.maximumHostNameBytes),
      address: text, addressFamily: family, port: port,
      interfaceName: interfaceName, interfaceIndex: interface,
      txt: TXTRecord.parse(txt),
      isLocal: flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0)
  }
}
