import Foundation
import HealthModel
import HealthOperations
import HealthStore
import PeerClient
import PeerServer
import PeerTrust

/// The state of everything that hpeer does by itself on this machine, for `--json` and for people.
struct StatusReport: Encodable {
  struct Window: Encodable {
    var state: String
    var expires: Date?
    var attemptsLeft: Int?
    var types: [String]?
    var since: Timestamp?
    var until: Timestamp?
    var sources: [String]?
    var openedBy: String?
    var process: Int32?
  }

  struct Record: Encodable {
    var samples: Int
    var types: Int
  }

  /// A machine that this one pulls from.
  struct Peer: Encodable {
    enum State: String, Encodable {
      /// The last pull succeeded.
      case fine
      case failing
      /// No pull has succeeded or failed yet.
      case never
    }

    var name: String
    /// The dialect: `hpeer`, or the app of a phone.
    var kind: String
    var state: State
    var lastAttempt: Timestamp?
    var lastSuccess: Timestamp?
    var failingSince: Timestamp?
    var failures: Int?
    var reason: String?
    /// The coverage of an app's record; `nil` for a machine that runs hpeer.
    var coverage: CoverageReport?
  }

  /// Whether something runs here and nothing fails.
  var ok: Bool
  /// The process ID of `hpeer serve` or `hpeer run`; `nil` if neither runs.
  var process: Int32?
  /// The name under which this machine is announced.
  var name: String?
  /// The time at which the server was locked; `nil` if it is unlocked.
  var locked: Date?
  /// The names of the peers that may know what was deleted since the backup that was restored; `nil` without a
  /// restored backup.
  var waitsFor: [String]?
  /// The pairing window; `nil` if nothing is served.
  var window: Window?
  /// The size of the record; `nil` before the first import or pull.
  var record: Record?
  /// The number of machines that may read here.
  var readers: Int
  var peers: [Peer]
  var destinations: [DestinationReport]
  var automations: [AutomationReport]
  /// The state of the inbox; `nil` if no app may send here.
  var inbox: InboxReport?
  /// The certificates and tokens that end soon or have ended.
  var endings: [EndingObject]

  /// Whether a peer, a destination, an automation or the inbox is failing.
  var isFailing: Bool {
    peers.contains { $0.state == .failing } || destinations.contains { $0.state == .failing }
      || automations.contains { $0.state == .failing } || inbox?.isFailing == true
  }

  /// Creates a report on the current state of a home.
  ///
  /// - Parameters:
  ///   - store: The store; `nil` before the first import or pull.
  ///   - served: The state of the running server; `nil` if nothing is served.
  init(_ home: Home, _ store: HealthStore?, served: ServerState?, endings: [Ending]) async throws {
    let file = try SettingsNotice.readable(home)
    process = served?.process ?? ServeLock.holder(of: home)
    name = served?.name
    window = served.map { Window($0.window) }
    record = try await store.asyncMap(Self.record)
    let paired = try await home.paired()
    readers = paired.clients.filter { $0.revoked == nil && $0.expires > Date() }.count
    let pulls = try await store?.activities.all(beginning: PullOperation.activityPrefix) ?? []
    peers = []
    for server in paired.servers {
      var coverage: PullCoverage?
      if server.traits.isApp, let store { coverage = try? await Pull.coverage(of: server, in: store) }
      peers.append(Peer(server, pulls.first { $0.name == PullOperation.activity(of: server) }, coverage))
    }
    destinations = try await DestinationReport.all(file, store)
    automations = try await AutomationReport.all(file, store)
    self.endings = endings.map { EndingObject($0) }
    ok = false
    let registry = try await home.openRegistryForReading()
    locked = try await registry.lockedSince()
    waitsFor = try await registry.restoration().map { $0.servers.map(\.name) + $0.clients.map(\.name) }
    let security = try? InboxAddress(file, host: nil).security
    let standing = try await InboxStatus(of: home, registry, store, security)
    if !standing.senders.isEmpty { inbox = InboxReport(standing) }
    ok = process != nil && !isFailing
  }

  private static func record(_ store: HealthStore) async throws -> Record {
    let counts = try await store.samples.typeCounts().filter { $0.samples > 0 }
    return Record(samples: counts.reduce(0) { $0 + $1.samples }, types: counts.count)
  }
}

extension Optional where Wrapped: Sendable {
  fileprivate func asyncMap<Value>(_ transform: (Wrapped) async throws -> Value) async rethrows -> Value? {
    if let self { try await transform(self) } else { nil }
  }
}

extension StatusReport.Window {
  init(_ window: ServerState.Window) {
    switch window {
    case .closed: self.init(state: "closed")
    case .locked: self.init(state: "locked")
    case .open(let window):
      self.init(
        state: "open", expires: Date(timeIntervalSince1970: window.expiresAt.rawValue),
        attemptsLeft: window.attemptsLeft.rawValue, types: window.scope?.types?.map(\.rawValue).sorted(),
        since: window.scope?.earliest, until: window.scope?.end, sources: window.scope?.sources?.sorted(),
        openedBy: window.process == nil ? "terminal" : "command", process: window.process)
    }
  }
}

extension StatusReport.Peer {
  init(_ server: ServerRecord, _ pulls: ActivityState?, _ coverage: PullCoverage?) {
    (name, kind) = (server.name, server.dialect)
    // Pulls by an older version are recorded in the registry alone.
    lastSuccess = pulls?.succeeded ?? server.lastUsed.map { Timestamp($0) }
    lastAttempt = [pulls?.started, pulls?.ended, lastSuccess].compactMap(\.self).max()
    state = pulls?.failing != nil ? .failing : lastSuccess == nil ? .never : .fine
    (failingSince, reason) = (pulls?.failing, pulls?.reason)
    failures = pulls.flatMap { $0.failures > 0 ? $0.failures : nil }
    self.coverage = coverage.map(CoverageReport.init)
  }
}

/// The state of the inbox, for `--json` and for people.
struct InboxReport: Encodable {
  struct Sender: Encodable {
    enum State: String, Encodable {
      /// The last data that it sent was accepted.
      case fine
      case failing
      /// No data of it has been accepted yet.
      case never
    }

    var name: String
    var state: State
    var lastSeen: Timestamp?
    var lastReceived: Timestamp?
    /// The refused requests of the last week.
    var refused: Refusals?
  }

  struct Refusals: Encodable {
    var count: Int
    var last: Timestamp
    var reason: String
  }

  struct Certificate: Encodable {
    var ends: Timestamp?
    var isOver: Bool?
    /// The reason why the certificate cannot be used.
    var problem: String?
  }

  var senders: [Sender]
  var certificate: Certificate?

  init(_ standing: InboxStatus, now: Timestamp = .now) {
    senders = standing.senders.map { sender in
      Sender(
        name: sender.name,
        state: sender.isFailing(at: now) ? .failing : sender.lastReceived == nil ? .never : .fine,
        lastSeen: sender.lastSeen.map { Timestamp($0) }, lastReceived: sender.lastReceived,
        refused: sender.refused.map { Refusals(count: $0.count, last: $0.last, reason: $0.reason) })
    }
    switch standing.certificate {
    case .good(let end): certificate = Certificate(ends: Timestamp(end), isOver: Timestamp(end) <= now)
    case .unusable(let reason): certificate = Certificate(problem: reason)
    case nil: certificate = nil
    }
  }

  /// Whether phones cannot trust the certificate, or the data of an app is refused.
  var isFailing: Bool {
    certificate?.problem != nil || certificate?.isOver == true || senders.contains { $0.state == .failing }
  }
}
