import Foundation
import HealthModel
import HealthStore
import NIOCore
import NIOHTTP1
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
  let store: HealthStore
  private let server: ServerRecord
  private let endpoint: PeerEndpoint
  private let identity: PeerIdentity?
  private let types: [SampleType]
  private let ownName: String?
  private let silenceLimit: Int
  private let handshakeLimit: Duration?
  private let persons: PersonCheck?
  private let heard: (@Sendable (_ bytes: Int) -> Void)?

  /// - Parameters:
  ///   - identity: whose certificate is shown; the one that was paired with, or `nil` where that showed none.
  ///   - types: only these; empty for all that the peer lets us see.
  ///   - ownName: what the peer's list shall call this machine by now; `nil` leaves that.
  ///   - silenceLimit: seconds without a byte after which the peer counts as gone.
  ///   - handshakeLimit: see ``PeerConnection/withConnection(to:trust:identity:silenceLimit:handshakeLimit:_:)``.
  ///   - persons: keeps the records of two people apart; `nil` takes whatever comes.
  ///   - heard: told how many bytes of answers have come on this connection, whenever there are more.
  public init(
    into store: HealthStore, from server: ServerRecord, at endpoint: PeerEndpoint, identity: PeerIdentity? = nil,
    types: [SampleType] = [], ownName: String? = nil, silenceLimit: Int = PeerConnection.silenceLimit,
    handshakeLimit: Duration? = nil, persons: PersonCheck? = nil, heard: (@Sendable (_ bytes: Int) -> Void)? = nil
  ) {
    self.ownName = ownName
    self.persons = persons
    self.heard = heard
    self.silenceLimit = silenceLimit
    self.handshakeLimit = handshakeLimit
    self.store = store
    self.server = server
    self.endpoint = endpoint
    self.identity = identity
    self.types = types
  }

  /// Told after each commit how far the pull is, and how many changes the peer said there are at most.
  public typealias Report = (_ done: PullProgress, _ expected: Int?) async -> Void

  /// Runs to the end of what the peer has.
  ///
  /// - Parameter full: start from the beginning. What is here already is not fetched into the store twice.
  public func run(full: Bool = false, progress: Report) async throws -> PullProgress {
    var done = PullProgress()
    try await withPeer { connection in
      var repetition = Repetition(connection.limits)
      repetition.reset(done)
      if full { try await startOver(connection) }
      try await catchUp(connection, &done, &repetition, progress)
    }
    return done
  }

  /// Begins again, and so compares the persons again, where something else has changed whose the store is meanwhile.
  func withPeer<Result: Sendable>(_ body: (PeerConnection) async throws -> Result) async throws -> Result {
    var ownerChanges = 0
    while true {
      do {
        return try await PeerConnection.withConnection(
          to: endpoint, trust: .pinned(server.fingerprint, peer: server.name), identity: identity,
          silenceLimit: silenceLimit, handshakeLimit: handshakeLimit, body)
      } catch StoreError.ownerChanged where ownerChanges < Self.mostOwnerChanges {
        ownerChanges += 1
      }
    }
  }

  private static let mostOwnerChanges = 3

  /// Forgets the position, unless the peer's record is none for this store.
  func startOver(_ connection: PeerConnection) async throws {
    _ = try await persons?.admit(server, into: store, over: connection)
    try await store.forgetPosition(of: consumer)
  }

  /// Asks until the peer has nothing more.
  func catchUp(
    _ connection: PeerConnection, _ done: inout PullProgress, _ repetition: inout Repetition, _ progress: Report
  ) async throws {
    var more = true
    var hasStartedOver = false
    while more {
      do {
        more = try await request(connection, &done, &repetition, progress)
      } catch PeerError.tokenGone where !hasStartedOver {
        // The peer cannot continue from our token (its store was replaced, or our scope changed): everything again.
        hasStartedOver = true
        repetition.reset(done)
        try await store.forgetPosition(of: consumer)
      }
    }
  }

  /// Positions are kept per peer and selection: a token is valid for one filter only.
  package var consumer: String {
    let names = types.map(\.rawValue).sorted().joined(separator: ",")
    return Self.consumers(of: server) + (names.isEmpty ? "" : ":\(names)")
  }

  /// What the names of all positions in one server's feed begin with.
  static func consumers(of server: ServerRecord) -> String { "pull:\(server.id.hex)" }

  /// One request; `false` when the peer has nothing more.
  ///
  /// - Parameter waiting: for a request that the peer may hold until there is something.
  func request(
    _ connection: PeerConnection, _ done: inout PullProgress, _ repetition: inout Repetition, _ progress: Report,
    waiting: PullWaiting? = nil
  ) async throws -> Bool {
    var position = try await store.position(of: consumer)
    let since = waiting?.token ?? position
    done.requests += 1
    var (head, owner) = try await send(connection, path(since: since, wait: waiting?.seconds))
    guard head.status == .ok else { throw try await refusal(connection, head, since: since) }

    done.peerName = head.headers.first(name: PeerName.header).flatMap(PeerName.decoded) ?? done.peerName
    let expected = head.headers.first(name: ChangeFeed.expectedHeader).flatMap { WireCount($0) }
      .map { done.changes + $0.rawValue }
    var feed = try IncomingFeed(connection, head, since: since, heard: heard)
    var more: Bool?
    var arrived = await feed.batches()
    while let last = arrived.batches.last {
      more = last.more
      if arrived.batches.allSatisfy(\.changes.isEmpty) {
        let isKept = !last.more && waiting?.keep(last.token) == true
        // Whoever has a position counts as having pulled something.
        if isKept || !last.more && position == nil {
          arrived = await feed.batches()
          continue
        }
      }
      waiting?.token = nil
      // What arrives while this is written is written next, all of it together.
      let (changes, bytes, writing, before) = (arrived.batches.map(\.changes), arrived.bytes, Ongoing(), owner)
      async let written = writing.until { try await apply(changes, (consumer, last.token), while: before) }
      var next: IncomingFeed.Arrival?
      // A large one has the memory to itself.
      if bytes < connection.limits.bytesAhead { next = await feed.batches(during: writing, beside: bytes) }
      let summary: WriteSummary
      (summary, owner) = try await written
      position = last.token
      done.add(summary)
      done.bytes = max(done.bytes, connection.bytesReceived)
      await progress(done, expected)
      try await repetition.check(done, in: store)
      if let next { arrived = next } else { arrived = await feed.batches() }
    }
    try feed.requireEnd()
    guard let more else { throw PeerError.feed(.cutOff) }
    return more
  }

  private func apply(
    _ changes: [CodedChanges], _ position: (consumer: String, token: String), while owner: RecordOwner?
  ) async throws -> (WriteSummary, RecordOwner?) {
    guard let owner else { return (try await store.apply(changes, position: position), nil) }
    let (summary, next) = try await store.apply(changes, position: position, while: owner)
    return (summary, next)
  }

  /// Asks for the record of the person that was agreed on. A server whose record is another person's by now is asked once
  /// whose it is.
  ///
  /// - Returns: also how the store must be for the answer to be taken in.
  private func send(
    _ connection: PeerConnection, _ path: String
  ) async throws -> (head: HTTPResponseHead, owner: RecordOwner?) {
    var headers = [("Authorization", "Bearer \(server.credential.text)"), ("Accept", Self.accept)]
    if let ownName { headers.append((PeerName.header, PeerName.encoded(ownName))) }
    guard let persons else { return (try await connection.send(.GET, path, headers: headers), nil) }
    func append(_ mark: String?) {
      if let mark { headers.append((PersonAnswer.markHeader, mark)) }
    }
    let count = headers.count
    var admission = try await persons.admit(server, into: store, over: connection)
    append(admission.mark)
    let head = try await connection.send(.GET, path, headers: headers)
    guard head.status == .preconditionFailed, headers.count > count else { return (head, admission.owner) }
    _ = try await connection.body()
    headers.removeLast()
    admission = try await persons.admit(server, into: store, over: connection, asksAgain: true)
    append(admission.mark)
    return (try await connection.send(.GET, path, headers: headers), admission.owner)
  }

  /// The `Accept` header field: columns are preferred, lines accepted.
  private static let accept = "\(ChangeFeedFormat.columns.rawValue), \(ChangeFeedFormat.lines.rawValue);q=0.1"

  private func path(since token: String?, wait: Int?) -> String {
    var query: [String] = []
    if let token { query.append("since=\(Self.escaped(token))") }
    if let wait { query.append("wait=\(wait)") }
    if !types.isEmpty {
      query.append("types=\(types.map { Self.escaped($0.rawValue) }.sorted().joined(separator: ","))")
    }
    return Route.changes + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }

  /// A token, and an identifier that nobody knows, may hold anything.
  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// RFC 3986 section 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private func refusal(
    _ connection: PeerConnection, _ head: HTTPResponseHead, since: String?
  ) async throws -> PeerError {
    let raw = try await connection.body()
    switch head.status.code {
    case 401: return .tokenRefused(peer: server.name)
    // Without a token of ours there is nothing to start over from.
    case 410 where since != nil: return .tokenGone
    case 429, 503: return .busy(retryAfter: head.retryAfter)
    default: return connection.failure(status: Int(head.status.code), raw: raw)
    }
  }
}
