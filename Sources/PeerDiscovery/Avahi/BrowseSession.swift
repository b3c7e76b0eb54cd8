import CAvahi

/// A session that browses for one service type and resolves what appears. Belongs to the thread of ``AvahiThread``.
final class BrowseSession: AvahiSession {
  private static let turnsInARow = 4

  private let type: String
  private let isPreferred: (String) -> Bool
  private let report: (BrowseEvent) -> Void
  private var browser: OpaquePointer?
  private var browserFailed = false
  private var ledger = ResolverScheduler<ServiceKey>()
  /// The open resolvers. Each one must live until its C object is freed.
  private var resolvers: [ServiceKey: ServiceResolver] = [:]
  /// The services reported as found and not lost since.
  private var services: [ServiceKey: DiscoveredService] = [:]
  /// The last reported numbers of skipped services.
  private var reportedCrowds: [String?: Int] = [:]
  private var daemonWasReached = false
  private var daemonIsGone = false
  private var knowsAllForNow = false

  init(type: String, isPreferred: @escaping (String) -> Bool, report: @escaping (BrowseEvent) -> Void) {
    self.type = type
    self.isPreferred = isPreferred
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
    report(.listening)
  }

  var nextStep: ContinuousClock.Instant? { ledger.nextTurn(at: .now) }

  func step(on connection: AvahiConnection) {
    if browserFailed { return connection.giveUp(connection.lastError) }
    // Each resolver costs a blocking call to avahi-daemon, so incoming events are read after every few.
    for _ in 0..<Self.turnsInARow {
      guard let turn = ledger.next(at: .now) else { break }
      if let key = turn.close { close(key) }
      guard let resolver = ServiceResolver(turn.open, type: type, session: self, on: connection) else {
        // avahi-daemon rejects this name and would reject it again.
        ledger.withdraw(turn.open)
        continue
      }
      resolvers[turn.open] = resolver
    }
    reportCrowds()
    if knowsAllForNow, ledger.isQuiet {
      knowsAllForNow = false
      report(.allForNow)
    }
  }

  func connectionBroke(_ reason: DiscoveryError) throws(DiscoveryError) {
    if !daemonWasReached { throw reason }
    browser = nil
    browserFailed = false
    ledger = ResolverScheduler()
    // The C objects were freed with the connection.
    resolvers = [:]
    services = [:]
    reportedCrowds = [:]
    knowsAllForNow = false
    if !daemonIsGone { report(.daemonGone(reason)) }
    daemonIsGone = true
  }

  // MARK: Browsing

  private func browsed(
    _ event: AvahiBrowserEvent, name: UnsafePointer<CChar>?, domain: UnsafePointer<CChar>?,
    interface: AvahiIfIndex, proto: AvahiProtocol
  ) {
    ledger.hasNews(at: .now)
    switch event {
    case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
      guard let name, let domain else { return }
      let key = ServiceKey(
        name: AvahiValues.bytes(name), domain: AvahiValues.bytes(domain), interface: interface, proto: proto)
      if event == AVAHI_BROWSER_NEW {
        ledger.announce(key, isPreferred: isPreferred(key.text))
      } else {
        ledger.withdraw(key)
        close(key)
      }
    case AVAHI_BROWSER_ALL_FOR_NOW:
      knowsAllForNow = true
    case AVAHI_BROWSER_FAILURE:
      browserFailed = true
    default:
      return
    }
  }

  private func reportCrowds() {
    for (address, count) in ledger.passedOver {
      let reported = reportedCrowds[address] ?? 0
      guard count >= 2 * reported || ledger.isQuiet, count != reported else { continue }
      reportedCrowds[address] = count
      report(address.map { .crowded(address: $0, more: count) } ?? .ignored(total: count))
    }
  }

  // MARK: Resolving

  /// Records an answer. The resolver stays open and reports changes of the address or the TXT record.
  func resolved(_ key: ServiceKey, as service: DiscoveredService) {
    ledger.hasNews(at: .now)
    guard ledger.answered(key, from: service.address) else { return close(key) }
    guard services.updateValue(service, forKey: key) != service else { return }
    report(.found(service))
  }

  /// Records that there is no answer. The resolver stays open here, too: avahi-daemon keeps asking at growing
  /// intervals.
  func failed(_ key: ServiceKey) {
    ledger.hasNews(at: .now)
    ledger.unanswered(key)
    lose(key)
  }

  private func close(_ key: ServiceKey) {
    resolvers.removeValue(forKey: key)?.free()
    lose(key)
  }

  private func lose(_ key: ServiceKey) {
    if let service = services.removeValue(forKey: key) { report(.lost(service.id)) }
  }
}
