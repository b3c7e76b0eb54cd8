import Synchronization

/// Announces a service on the local network, through avahi-daemon, on every interface and over both IP versions.
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
/// It does not open the port, and it does not open the mDNS port: one responder per machine is enough.
public final class ServiceAdvertiser: Sendable {
  /// What is to be published, shared with the thread that publishes.
  struct Record: Sendable {
    var txt: [[UInt8]]
    /// Counts the changes of `txt`.
    var version = 0
    /// The thread to wake after a change, while there is one.
    var thread: AvahiThread?
  }

  /// What happens, for one reader; at most the latest 64 events wait for it. Ends with ``run()``.
  public let events: AsyncStream<AdvertisingEvent>

  private let reporter: AsyncStream<AdvertisingEvent>.Continuation
  private let name: String
  private let type: String
  private let port: UInt16
  private let record: Mutex<Record>

  /// - Parameters:
  ///   - name: what people see. Control characters are dropped, and what exceeds 63 bytes of UTF-8.
  ///   - txt: public to everybody on the network. At most 400 bytes are advisable.
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

  /// Publishes until the task is cancelled, then withdraws and returns. Call it once.
  ///
  /// Waits for avahi-daemon if it is not there, and publishes anew after it was restarted.
  /// Throws ``DiscoveryError`` only for what waiting does not cure: the daemon does not permit or accept the service.
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

  /// Replaces the TXT record, at once if the service is published.
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

/// What became of an advertisement.
public enum AdvertisingEvent: Sendable, Hashable {
  /// Others can see it, under this name. Sent again after avahi-daemon came back.
  case published(name: String)
  /// Another service on the network has the name already; this one is tried next.
  case renamed(from: String, to: String)
  /// Nobody can see it at the moment. Sent once for each time; ``published(name:)`` follows when it is over.
  case daemonUnavailable(DiscoveryError)
}
