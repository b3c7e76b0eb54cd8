import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// A pull that brings one store up to date with one peer: it requests the changes since the last token, and commits
/// each batch together with the token that follows it. After an interruption, the next pull continues from the last
/// committed batch.
///
/// ```swift
/// func pull(
///   _ server: ServerRecord, at endpoint: PeerEndpoint, into store: HealthStore, _ own: PeerIdentity,
///   _ registry: PeerRegistry
/// ) async throws -> PullProgress {
///   let pull = Pull(into: store, from: server, at: endpoint, identity: own, persons: PersonCheck(registry))
///   return try await pull.run { done, expected in
///     print("\(done.changes) of \(expected.map { String($0) } ?? "?")")
///   }
/// }
/// ```
///
/// Use ``PeerFinder`` if the peer may have moved, and ``Follow`` to stay up to date.
public struct Pull: Sendable {
  private let settings: PullSettings
  private let endpoint: PeerEndpoint
  /// The server's dialect, or `nil` if this version does not know it.
  private let dialect: (any PeerDialect)?
  var store: HealthStore { settings.store }
  var server: ServerRecord { settings.server }

  /// - Parameters:
  ///   - identity: the identity whose certificate is shown: the one that was paired, or `nil` if the pairing used
  ///     none.
  ///   - types: the types to pull; empty for all that the peer lets this machine read.
  ///   - ownName: the current name of this machine for the peer's list; `nil` leaves it unchanged.
  ///   - silenceLimit: the number of seconds without a byte after which the peer is considered gone.
  ///   - handshakeLimit: see ``PeerConnection/withConnection(to:trust:identity:silenceLimit:handshakeLimit:_:)``.
  ///   - persons: keeps the records of different persons apart; `nil` accepts any record.
  ///   - infersDeletions: whether samples that an app no longer lists count as deleted; see `docs/how-to/phones.md`.
  ///   - heard: called with the number of answer bytes received on this connection, whenever it grows.
  public init(
    into store: HealthStore, from server: ServerRecord, at endpoint: PeerEndpoint, identity: PeerIdentity? = nil,
    types: [SampleType] = [], ownName: String? = nil, silenceLimit: Int = PeerConnection.silenceLimit,
    handshakeLimit: Duration? = nil, persons: PersonCheck? = nil, infersDeletions: Bool = false,
    heard: (@Sendable (_ bytes: Int) -> Void)? = nil
  ) {
    self.init(
      PullSettings(
        store: store, server: server, identity: identity, types: types, ownName: ownName, silenceLimit: silenceLimit,
        handshakeLimit: handshakeLimit, persons: persons, infersDeletions: infersDeletions, heard: heard), at: endpoint)
  }

  /// - Parameter dialects: the dialects in which the server's is looked up.
  init(
    _ settings: PullSettings, at endpoint: PeerEndpoint, dialects: [any PeerDialect.Type] = PeerDialects.all
  ) {
    self.settings = settings
    self.endpoint = endpoint
    dialect = dialects.first { $0.name == settings.server.dialect }?.init(settings)
  }

  /// A function called after each commit with the progress and the maximum number of changes that the peer announced.
  public typealias Report = (_ done: PullProgress, _ expected: Int?) async -> Void

  /// Pulls until the peer has nothing more.
  ///
  /// - Parameter full: whether to start from the beginning. Samples already in the store are not added twice.
  public func run(full: Bool = false, progress: Report) async throws -> PullProgress {
    var done = PullProgress()
    try await withPeer { session in
      var repeated = RepeatGuard(session.limits, isApp: server.traits.isApp)
      repeated.reset(done)
      if full { try await startOver(session) }
      try await catchUp(session, &done, &repeated, progress)
    }
    return done
  }

  /// Runs `body` in a session with the peer. Starts over, and so compares the persons again, if the store's owner
  /// changes meanwhile.
  func withPeer<Result: Sendable>(_ body: (any PeerSession) async throws -> Result) async throws -> Result {
    guard let dialect else { throw PeerError.unknownDialect(peer: server.name, dialect: server.dialect) }
    var ownerChanges = 0
    while true {
      do {
        return try await dialect.withSession(at: endpoint, body)
      } catch StoreError.ownerChanged where ownerChanges < Self.mostOwnerChanges {
        ownerChanges += 1
      }
    }
  }

  private static let mostOwnerChanges = 3

  /// Forgets the position so that the pull starts over. Throws if the peer's record must not be stored in this store.
  func startOver(_ session: any PeerSession) async throws {
    try await session.prepareToStartOver()
    // The position contains what an app did not list the last time; the pull reads everything anyway to find
    // deletions.
    if settings.infersDeletions, server.traits.isApp { return }
    try await store.feed.forgetPosition(of: consumer)
  }

  /// Sends requests until the peer has nothing more.
  func catchUp(
    _ session: any PeerSession, _ done: inout PullProgress, _ repeated: inout RepeatGuard, _ progress: Report
  ) async throws {
    var more = true
    var hasStartedOver = false
    while more {
      do {
        more = try await request(session, &done, &repeated, progress)
      } catch PeerError.tokenGone where !hasStartedOver {
        // The peer cannot continue from the token, because its store was replaced or this client's scope changed.
        hasStartedOver = true
        repeated.reset(done)
        try await store.feed.forgetPosition(of: consumer)
      }
    }
  }

  package var consumer: String { Self.consumer(of: server, types: settings.types) }

  /// Returns the common prefix of the names of all positions in one server's feed.
  static func consumers(of server: ServerRecord) -> String { "pull:\(server.id.hex)" }

  /// Sends one request and commits its answer. Returns `false` when the peer has nothing more.
  ///
  /// - Parameter waiting: the long-poll state, for a request that the peer may hold until there are changes.
  func request(
    _ session: any PeerSession, _ done: inout PullProgress, _ repeated: inout RepeatGuard, _ progress: Report,
    waiting: PullWaiting? = nil
  ) async throws -> Bool {
    var position = try await store.feed.position(of: consumer)
    let since = waiting?.token ?? position
    done.requests += 1
    let requestsBefore = done.requests
    var answer = try await session.answer(since: since, wait: waiting?.seconds)
    done.peerName = answer.peerName ?? done.peerName
    done.machine = answer.machine ?? done.machine
    let expected = answer.expected.map { done.changes + $0 }
    let sender = answer.sender
    var owner = answer.owner
    var more: Bool?
    var arrived = await answer.batches(during: nil, beside: 0)
    while let last = arrived.batches.last {
      more = last.more
      if arrived.batches.allSatisfy(\.changes.isEmpty) {
        let isKept = !last.more && waiting?.keep(last.token) == true
        // A stored position would mean that something has been pulled.
        if isKept || !last.more && position == nil {
          if position == nil { done.unkeptPosition = last.token }
          arrived = await answer.batches(during: nil, beside: 0)
          continue
        }
      }
      waiting?.token = nil
      // Batches that arrive during this write are written together next.
      let (changes, bytes, writing, before) = (arrived.batches.map(\.changes), arrived.bytes, Ongoing(), owner)
      async let written = writing.until { try await apply(changes, (consumer, last.token), while: before, sender) }
      var next: IncomingBatches?
      // A large batch is written without prefetching, to limit memory.
      if bytes < session.limits.bytesAhead { next = await answer.batches(during: writing, beside: bytes) }
      let summary: WriteSummary
      (summary, owner) = try await written
      (position, done.unkeptPosition) = (last.token, nil)
      done.add(summary)
      done.bytes = max(done.bytes, answer.bytesReceived)
      done.requests = requestsBefore + answer.furtherRequests
      await progress(done, expected)
      try await repeated.check(done, in: store)
      if let next { arrived = next } else { arrived = await answer.batches(during: nil, beside: 0) }
    }
    done.requests = requestsBefore + answer.furtherRequests
    try answer.requireEnd()
    guard let more else { throw PeerError.feed(.cutOff) }
    return more
  }

  private func apply(
    _ changes: [CodedChanges], _ position: (consumer: String, token: String), while owner: RecordOwner?,
    _ sender: String?
  ) async throws -> (WriteSummary, RecordOwner?) {
    guard let owner else { return (try await store.apply(changes, position: position), nil) }
    let (summary, next) = try await store.apply(changes, position: position, while: owner, sender: sender)
    return (summary, next)
  }
}

/// The parameters of a pull, except the server's endpoint.
public struct PullSettings: Sendable {
  let store: HealthStore
  let server: ServerRecord
  var identity: PeerIdentity?
  var types: [SampleType] = []
  var ownName: String?
  var silenceLimit = PeerConnection.silenceLimit
  var handshakeLimit: Duration?
  var persons: PersonCheck?
  var infersDeletions = false
  var heard: (@Sendable (_ bytes: Int) -> Void)?
}
