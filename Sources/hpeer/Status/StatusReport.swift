import Foundation
import HealthModel
import HealthOperations
import HealthStore
import PeerClient
import PeerServer
import PeerTrust

/// How everything goes that hpeer does by itself on this machine, for `--json` and for people.
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
      /// The last time was well.
      case fine
      case failing
      /// Nothing was pulled yet.
      case never
    }

    var name: String
    /// `hpeer`, or the app of a phone.
    var kind: String
    var state: State
    var lastAttempt: Timestamp?
    var lastSuccess: Timestamp?
    var failingSince: Timestamp?
    var failures: Int?
    var reason: String?
    /// Of an app, what is vouched for.
    var coverage: CoverageReport?
  }

  /// Whether something runs here and nothing fails.
  var ok: Bool
  /// Of `hpeer serve` or `hpeer run`; `nil` where none runs.
  var process: Int32?
  /// What this machine is announced as.
  var name: String?
  /// Since when no client is answered.
  var locked: Date?
  /// After a restore, the names of the peers that may know what was deleted since the backup; `nil` where none was restored.
  var waitsFor: [String]?
  /// `nil` where nothing is served.
  var window: Window?
  /// `nil` before the first import or pull.
  var record: Record?
  /// How many machines may read here.
  var readers: Int
  var peers: [Peer]
  var destinations: [DestinationReport]
  var automations: [AutomationReport]
  /// `nil` where no app may send here.
  var inbox: InboxReport?
  /// Certificates and tokens that end soon, or have ended.
  var endings: [EndingObject]

  /// Where something fails.
  var isFailing: Bool {
    peers.contains { $0.state == .failing } || destinations.contains { $0.state == .failing }
      || automations.contains { $0.state == .failing } || inbox?.isFailing == true
  }

  /// - Parameters:
  ///   - store: `nil` before the first import or pull.
  ///   - served: `nil` where nothing is served.
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
    let security = try? InboxPlace(file, host: nil).security
    let standing = try await InboxStanding(of: home, registry, store, security)
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
    // What an older version has pulled is in the registry alone.
    lastSuccess = pulls?.succeeded ?? server.lastUsed.map { Timestamp($0) }
    lastAttempt = [pulls?.started, pulls?.ended, lastSuccess].compactMap(\.self).max()
    state = pulls?.failing != nil ? .failing : lastSuccess == nil ? .never : .fine
    (failingSince, reason) = (pulls?.failing, pulls?.reason)
    failures = pulls.flatMap { $0.failures > 0 ? $0.failures : nil }
    self.coverage = coverage.map(CoverageReport.init)
  }
}

/// How the inbox goes, for `--json` and for people.
struct InboxReport: Encodable {
  struct Sender: Encodable {
    enum State: String, Encodable {
      /// The last that it sent was taken.
      case fine
      case failing
      /// Nothing of it was taken yet.
      case never
    }

    var name: String
    var state: State
    var lastSeen: Timestamp?
    var lastReceived: Timestamp?
    /// Within a week.
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
    /// Why it cannot be used.
    var problem: String?
  }

  var senders: [Sender]
  var certificate: Certificate?

  init(_ standing: InboxStanding, now: Timestamp = .now) {
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

  /// Whether phones cannot trust it, or what an app sends is refused.
  var isFailing: Bool {
    certificate?.problem != nil || certificate?.isOver == true || senders.contains { $0.state == .failing }
  }
}
