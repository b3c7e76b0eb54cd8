import CAvahi

/// Browses for one service type and resolves what appears. Belongs to the thread of ``AvahiThread``.
final class BrowseSession: AvahiSession {
  /// An announcement as Avahi names it.
  private struct Key: Hashable {
    var name: [UInt8]
    var domain: [UInt8]
    var interface: AvahiIfIndex
    var proto: AvahiProtocol
  }

  private struct Entry {
    var resolver: Resolver
    /// What was reported, while it is there.
    var service: DiscoveredService?
    /// Whether it did not answer in the time that Avahi allows (5 s).
    var hasFailed = false
  }

  /// A resolver and what its callback needs. Its entry keeps it until the C object is freed.
  private final class Resolver {
    unowned let session: BrowseSession
    let key: Key
    var pointer: OpaquePointer?

    init(session: BrowseSession, key: Key) {
      self.session = session
      self.key = key
    }
  }

  private let type: String
  private let maximumServices: Int
  private let report: (BrowseEvent) -> Void
  private var browser: OpaquePointer?
  private var browserFailed = false
  private var entries: [Key: Entry] = [:]
  /// Announced and not yet looked at.
  private var announced: [Key] = []
  private var ignored = 0
  private var daemonWasReached = false
  private var daemonIsGone = false
  private var knowsAllForNow = false

  init(type: String, maximumServices: Int, report: @escaping (BrowseEvent) -> Void) {
    self.type = type
    self.maximumServices = maximumServices
    self.report = report
  }

  // MARK: The daemon

  func daemonChanged(to state: AvahiDaemonState, on connection: AvahiConnection) throws(DiscoveryError) {
    guard state != .absent else {
      if !daemonWasReached { throw .daemonNotRunning }
      return
    }
    guard browser == nil else { return }
    browser = avahi_service_browser_new(
      connection.client, AVAHI_IF_UNSPEC.asCode, AVAHI_PROTO_UNSPEC.asCode, type, nil, AvahiLookupFlags(rawValue: 0),
      { _, interface, proto, event, name, _, domain, _, context in
        guard let context else { return }
        // The context is the session, which outlives every connection.
        Unmanaged<BrowseSession>.fromOpaque(context).takeUnretainedValue()
          .browsed(event, name: name, domain: domain, interface: interface, proto: proto)
      }, Unmanaged.passUnretained(self).toOpaque())
    guard browser != nil else {
      if !daemonWasReached { throw connection.lastError }
      return connection.giveUp(connection.lastError)
    }
    daemonWasReached = true
    if daemonIsGone { report(.daemonBack) }
    daemonIsGone = false
  }

  func step(on connection: AvahiConnection) {
    if browserFailed { return connection.giveUp(connection.lastError) }
    let keys = announced
    announced = []
    for key in keys { add(key, on: connection) }
    if knowsAllForNow, entries.values.allSatisfy({ $0.service != nil || $0.hasFailed }) {
      knowsAllForNow = false
      report(.allForNow)
    }
  }

  func connectionBroke(_ reason: DiscoveryError) throws(DiscoveryError) {
    if !daemonWasReached { throw reason }
    browser = nil
    browserFailed = false
    entries = [:]
    announced = []
    knowsAllForNow = false
    if !daemonIsGone { report(.daemonGone(reason)) }
    daemonIsGone = true
  }

  // MARK: Browsing

  private func browsed(
    _ event: AvahiBrowserEvent, name: UnsafePointer<CChar>?, domain: UnsafePointer<CChar>?,
    interface: AvahiIfIndex, proto: AvahiProtocol
  ) {
    switch event {
    case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
      guard let name, let domain else { return }
      let key = Key(
        name: AvahiValues.bytes(name), domain: AvahiValues.bytes(domain), interface: interface, proto: proto)
      event == AVAHI_BROWSER_NEW ? announced.append(key) : remove(key)
    case AVAHI_BROWSER_ALL_FOR_NOW:
      knowsAllForNow = true
    case AVAHI_BROWSER_FAILURE:
      browserFailed = true
    default:
      return
    }
  }

  private func remove(_ key: Key) {
    announced.removeAll { $0 == key }
    guard let entry = entries.removeValue(forKey: key) else { return }
    free(entry.resolver)
    if let service = entry.service { report(.lost(service.id)) }
  }

  private func add(_ key: Key, on connection: AvahiConnection) {
    guard entries[key] == nil else { return }
    // A flood of names that nobody answers for is not to keep out one that somebody does.
    if entries.count >= maximumServices, let silent = entries.first(where: { $1.hasFailed })?.key { remove(silent) }
    guard entries.count < maximumServices else {
      ignored += 1
      if ignored.nonzeroBitCount == 1 { report(.ignored(total: ignored)) }
      return
    }
    guard let resolver = resolver(for: key, on: connection) else { return }
    entries[key] = Entry(resolver: resolver)
  }

  // MARK: Resolving

  private func resolver(for key: Key, on connection: AvahiConnection) -> Resolver? {
    let resolver = Resolver(session: self, key: key)
    // The same IP version for the question and for the address in the answer: one entry, one way to connect.
    resolver.pointer = avahi_service_resolver_new(
      connection.client, key.interface, key.proto, key.name.map { CChar(bitPattern: $0) } + [0], type,
      key.domain.map { CChar(bitPattern: $0) } + [0], key.proto, AvahiLookupFlags(rawValue: 0),
      { _, interface, _, event, _, _, _, host, address, port, txt, flags, context in
        guard let context else { return }
        // The context is the resolver, which its entry keeps as long as the C object exists.
        let resolver = Unmanaged<Resolver>.fromOpaque(context).takeUnretainedValue()
        guard event == AVAHI_RESOLVER_FOUND, let host, let address else {
          return resolver.session.failed(resolver.key)
        }
        let interfaceName = AvahiValues.interfaceName(interface)
        guard port != 0, let family = AvahiValues.family(address.pointee.proto),
          let text = AvahiValues.text(address.pointee, interface: interfaceName)
        else { return resolver.session.failed(resolver.key) }
        resolver.session.resolved(
          resolver.key,
          as: DiscoveredService(
            name: InstanceName.repaired(resolver.key.name),
            hostName: InstanceName.repaired(
              AvahiValues.bytes(host), maximumBytes: InstanceName.maximumHostNameBytes),
            address: text, addressFamily: family, port: port,
            interfaceName: interfaceName, interfaceIndex: interface,
            txt: TXTRecord.parse(AvahiValues.strings(txt)),
            isLocal: flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0))
      }, Unmanaged.passUnretained(resolver).toOpaque())
    return resolver.pointer == nil ? nil : resolver
  }

  /// The resolver stays open: it tells when the address or the TXT record changes.
  private func resolved(_ key: Key, as service: DiscoveredService) {
    guard var entry = entries[key] else { return }
    let isNews = entry.service != service
    entry.service = service
    entry.hasFailed = false
    entries[key] = entry
    if isNews { report(.found(service)) }
  }

  /// The resolver stays open here, too: avahi-daemon goes on asking, ever more rarely, and tells when there is an answer.
  private func failed(_ key: Key) {
    guard let service = entries[key]?.service else {
      entries[key]?.hasFailed = true
      return
    }
    entries[key]?.service = nil
    entries[key]?.hasFailed = true
    report(.lost(service.id))
  }

  private func free(_ resolver: Resolver) {
    guard let pointer = resolver.pointer else { return }
    resolver.pointer = nil
    avahi_service_resolver_free(pointer)
  }
}
