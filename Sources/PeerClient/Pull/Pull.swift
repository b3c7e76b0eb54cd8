import Foundation
import HealthModel
import HealthStore
import NIOCore
import NIOHTTP1
import PeerProtocol
import PeerTrust

/// Brings one store up to date with one peer: asks for what changed since the last token, and commits each batch
/// together with the token that follows it. Interrupted anywhere, the next pull goes on from the last committed batch.
public struct Pull: Sendable {
  let store: HealthStore
  private let server: ServerRecord
  private let endpoint: PeerEndpoint
  private let identity: PeerIdentity?
  private let types: [SampleType]
  private let silenceLimit: Int
  private let handshakeLimit: Duration?

  /// - Parameters:
  ///   - identity: whose certificate is shown; the one that was paired with, or `nil` where that showed none.
  ///   - types: only these; empty for all that the peer lets us see.
  ///   - silenceLimit: seconds without a byte after which the peer counts as gone.
  ///   - handshakeLimit: see ``PeerConnection/withConnection(to:trust:identity:silenceLimit:handshakeLimit:_:)``.
  public init(
    into store: HealthStore, from server: ServerRecord, at endpoint: PeerEndpoint, identity: PeerIdentity? = nil,
    types: [SampleType] = [], silenceLimit: Int = PeerConnection.silenceLimit, handshakeLimit: Duration? = nil
  ) {
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
    if full { try await store.forgetPosition(of: consumer) }
    try await withPeer { connection in try await catchUp(connection, &done, progress) }
    return done
  }

  func withPeer<Result: Sendable>(_ body: (PeerConnection) async throws -> Result) async throws -> Result {
    try await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name), identity: identity,
      silenceLimit: silenceLimit, handshakeLimit: handshakeLimit, body)
  }

  /// Asks until the peer has nothing more.
  func catchUp(_ connection: PeerConnection, _ done: inout PullProgress, _ progress: Report) async throws {
    var more = true
    var hasStartedOver = false
    var inVain = 0
    while more {
      let before = done.changes
      do {
        more = try await request(connection, &done, progress)
        inVain = done.changes == before ? inVain + 1 : 0
      } catch PeerError.tokenGone where !hasStartedOver {
        // The peer cannot continue from our token (its store was replaced, or our scope changed): everything again.
        hasStartedOver = true
        inVain = 0
        try await store.forgetPosition(of: consumer)
      }
      // Asking ever again would have the same answer, for ever.
      if more, inVain == 2 {
        throw PeerError.unexpectedAnswer(status: 200, message: "more changes were announced, and none came")
      }
    }
  }

  /// Positions are kept per peer and selection: a token is valid for one filter only.
  var consumer: String {
    let names = types.map(\.rawValue).sorted().joined(separator: ",")
    return "pull:\(server.id.hex)" + (names.isEmpty ? "" : ":\(names)")
  }

  /// One request; `false` when the peer has nothing more.
  ///
  /// - Parameter waiting: for a request that the peer may hold until there is something.
  func request(
    _ connection: PeerConnection, _ done: inout PullProgress, _ progress: Report, waiting: PullWaiting? = nil
  ) async throws -> Bool {
    var since = waiting?.token
    if since == nil { since = try await store.position(of: consumer) }
    done.requests += 1
    let head = try await connection.send(
      .GET, path(since: since, wait: waiting?.seconds),
      headers: [("Authorization", "Bearer \(server.credential.text)"), ("Accept", "application/x-ndjson")])
    guard head.status == .ok else { throw try await refusal(connection, head, since: since) }

    let expected = head.headers.first(name: ChangeFeed.expectedHeader).flatMap { Int($0) }.map { done.changes + $0 }
    var decoder = ChangeLineDecoder(lineLimit: Self.maximumLine)
    var batch = ChangeBatch()
    var last: Bool?
    while let part = try await connection.nextBodyPart() {
      try Task.checkCancellation()
      let lines: [ChangeLine]
      do {
        lines = try part.withUnsafeReadableBytes { bytes throws(ChangeFeedError) in try decoder.decode(bytes) }
      } catch {
        throw PeerError.feed(error)
      }
      for line in lines {
        switch line {
        case .added(let sample): batch.additions.append(sample)
        case .deleted(let tombstone): batch.deletions.append(tombstone)
        case .error(let message): throw PeerError.feed(.server(message))
        case .token(let token, _) where token.isEmpty || token.utf8.count > Self.maximumTokenLength:
          throw PeerError.unexpectedAnswer(status: 200, message: "a change token of \(token.utf8.count) bytes")
        case .token(let token, false) where batch.isEmpty && waiting?.keep(token) == true:
          last = false
        case .token(let token, let more):
          waiting?.token = nil
          let summary = try await store.apply(batch, position: (consumer, token))
          batch = ChangeBatch()
          last = more
          done.added += summary.added
          done.deleted += summary.deleted
          done.unchanged += summary.unchanged
          done.bytes = connection.bytesReceived
          await progress(done, expected)
        }
      }
      guard batch.count <= Self.maximumBatch else {
        throw PeerError.unexpectedAnswer(
          status: 200, message: "more than \(Self.maximumBatch) changes without a change token")
      }
    }
    done.bytes = connection.bytesReceived
    guard let last, batch.isEmpty else { throw PeerError.feed(.cutOff) }
    return last
  }

  /// In bytes; the longest samples that exist have a few hundred thousand.
  private static let maximumLine = 16 << 20
  /// Changes that are held in memory until their token comes; hpeer sends one every 2,000.
  private static let maximumBatch = 20_000
  /// In bytes. A token goes into a URL.
  private static let maximumTokenLength = 1_000

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
    case 429, 503: return .busy(retryAfter: head.headers.first(name: "Retry-After").flatMap { Int($0) })
    default: return connection.failure(status: Int(head.status.code), raw: raw)
    }
  }
}
