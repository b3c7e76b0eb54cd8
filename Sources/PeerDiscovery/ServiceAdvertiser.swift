import Synchronization

/// An advertiser that announces a service on the local network, through avahi-daemon, on all interfaces and IP
/// versions.
///
/// ```swift
/// let advertiser = try ServiceAdvertiser(name: "studio", port: 8737, txt: [("v", "1")])
/// async let withdrawn: Void = advertiser.run()  // Publishes until the task is cancelled.
/// for await event in advertiser.events {
///   if case .renamed(let wanted, let name) = event { print("\(wanted) is taken, announced as \(name)") }
/// }
/// try await withdrawn
/// ```
///
/// Publishing opens neither the service's port nor the mDNS port: each machine needs only one responder.
public final class ServiceAdvertiser: Sendable {
  /// The TXT record to publish, shared with the thread that publishes it.
  struct Record: Sendable {
    var txt: [[UInt8]]
    /// The number of changes of `txt`.
    var version = 0
    /// The thread to wake up after a change, while it runs.
    var thread: AvahiThread?
  }

  /// The events of the advertisement, for one reader. Buffers the latest 64 events and ends with ``run()``.
  public let events: AsyncStream<AdvertisingEvent>

  private let reporter: AsyncStream<AdvertisingEvent>.Continuation
  private let name: String
  private let type: String
  private let port: UInt16
  private let record: Mutex<Record>

  /// Creates an advertiser.
  ///
  /// - Parameters:
  ///   - name: the name for people. Control characters and everything beyond 63 bytes of UTF-8 are dropped.
  ///   - txt: the TXT record, visible to everyone on the network. At most 400 bytes are advisable.
  /// - Throws: ``DiscoveryError`` for a TXT record that cannot be sent.
  public init(
    name: String, type: String = HealthSyncService.type, port: UInt16, txt: [(key: String, value: String)] = []
  ) throws(DiscoveryError) {
    self.name = InstanceName.publishable(name)
    self.type = type
    self.port = port
    record = Mutex(Record(txt: try TXTRecord.strings(for: txt)))
    (events, reporter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  /// Publishes the service until the task is cancelled, then withdraws it and returns. Call it once.
  ///
  /// Waits for avahi-daemon if it is not running, and publishes again after it restarts. Throws ``DiscoveryError``
  /// only if waiting does not help: the daemon does not permit or accept the service.
  public func run() async throws(DiscoveryError) {
    let thread = AvahiThread()
    record.withLock { $0.thread = thread }
    defer {
      record.withLock { $0.thread = nil }
      reporter.finish()
    }
    try await thread.run { [self] in
      PublishSession(
        name: name, type: type, port: port,
        record: { self.record.withLock { ($0.txt, $0.version) } },
        report: { self.reporter.yield($0) })
    }
  }

  /// Replaces the TXT record, immediately if the service is published.
  public func update(txt: [(key: String, value: String)]) throws(DiscoveryError) {
    let strings = try TXTRecord.strings(for: txt)
    let thread = record.withLock { record in
      record.txt = strings
      record.version += 1
      return record.thread
    }
    thread?.wake()
  }
}

/// An event of an advertisement.
public enum AdvertisingEvent: Sendable, Hashable {
  /// The service is published under this name. Sent again after avahi-daemon returns.
  case published(name: String)
  /// The name is taken by another service on the network; the new one is tried next.
  case renamed(from: String, to: String)
  /// The service is not visible at the moment. Sent once per outage; ``published(name:)`` follows when it is over.
  case daemonUnavailable(DiscoveryError)
}
