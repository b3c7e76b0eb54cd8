import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// Brings one store up to date with one peer: asks for what changed since the last token, and commits each batch
/// together with the token that follows it. Interrupted anywhere, the next pull goes on from the last committed batch.
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
/// For a peer that may be elsewhere by now use ``PeerFinder``, and ``Follow`` to stay up to date.
public struct Pull: Sendable {
  private let settings: PullSettings
  private let endpoint: PeerEndpoint
  /// `nil` for one that this version does not know.
  private let dialect: (any PeerDialect)?
  var store: HealthStore { settings.store }
  var server: ServerRecord { settings.server }

  /// - Parameters:
  ///   - identity: whose certificate is shown; the one that was paired with, or `nil` where that showed none.
  ///   - types: only these; empty for all that the peer lets us see.
  ///   - ownName: what the peer's list shall call this machine by now; `nil` leaves that.
  ///   - silenceLimit: seconds without a byte after which the peer counts as gone.
  ///   - handshakeLimit: see ``PeerConnection/withConnection(to:trust:identity:silenceLimit:handshakeLimit:_:)``.
  ///   - persons: keeps the records of two people apart; `nil` takes whatever comes.
  ///   - infersDeletions: takes for deleted what an app that tells no deletions has ceased to list; see `docs/how-to/phones.md`.
  ///   - heard: told how many bytes of answers have come on this connection, whenever there are more.
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

  /// - Parameter dialects: among which is the server's.
  init(
    _ settings: PullSettings, at endpoint: PeerEndpoint, dialects: [any PeerDialect.Type] = PeerDialects.all
  ) {
    self.settings = settings
    self.endpoint = endpoint
    dialect = dialects.first { $0.name == settings.server.dialect }?.init(settings)
  }

  /// Told after each commit how far the pull is, and how many changes the peer said there are at most.
  public typealias Report = (_ done: PullProgress, _ expected: Int?) async -> Void

  /// Runs to the end of what the peer has.
  ///
  /// - Parameter full: start from the beginning. What is here already is not fetched into the store twice.
  public func run(full: Bool = false, progress: Report) async throws -> PullProgress {
    var done = PullProgress()
    try await withPeer { session in
      var repeated = RepeatedChanges(session.limits, isApp: server.traits.isApp)
      repeated.reset(done)
      if full { try await startOver(session) }
      try await catchUp(session, &done, &repeated, progress)
    }
    return done
  }

  /// Begins again, and so compares the persons again, where something else has changed whose the store is meanwhile.
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

  /// Forgets the position, unless the peer's record is none for this store.
  func startOver(_ session: any PeerSession) async throws {
    try await session.prepareToStartOver()
    // The position has what an app did not list the last time, and that is looked for in everything anyway.
    if settings.infersDeletions, server.traits.isApp { return }
    try await store.feed.forgetPosition(of: consumer)
  }

  /// Asks until the peer has nothing more.
  func catchUp(
    _ session: any PeerSession, _ done: inout PullProgress, _ repeated: inout RepeatedChanges, _ progress: Report
  ) async throws {
    var more = true
    var hasStartedOver = false
    while more {
      do {
        more = try await request(session, &done, &repeated, progress)
      } catch PeerError.tokenGone where !hasStartedOver {
        // The peer cannot continue from our token (its store was replaced, or our scope changed): everything again.
        hasStartedOver = true
        repeated.reset(done)
        try await store.feed.forgetPosition(of: consumer)
      }
    }
  }

  package var consumer: String { Self.consumer(of: server, types: settings.types) }

  /// What the names of all positions in one server's feed begin with.
  static func consumers(of server: ServerRecord) -> String { "pull:\(server.id.hex)" }

  /// One request; `false` when the peer has nothing more.
  ///
  /// - Parameter waiting: for a request that the peer may hold until there is something.
  func request(
    _ session: any PeerSession, _ done: inout PullProgress, _ repeated: inout RepeatedChanges, _ progress: Report,
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
        // Whoever has a position counts as having pulled something.
        if isKept || !last.more && position == nil {
          if position == nil { done.unkeptPosition = last.token }
          arrived = await answer.batches(during: nil, beside: 0)
          continue
        }
      }
      waiting?.token = nil
      // What arrives while this is written is written next, all of it together.
      let (changes, bytes, writing, before) = (arrived.batches.map(\.changes), arrived.bytes, Ongoing(), owner)
      async let written = writing.until { try await apply(changes, (consumer, last.token), while: before, sender) }
      var next: IncomingBatches?
      // A large one has the memory to itself.
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

/// What a pull is about and how it is made, but for where the server is.
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
