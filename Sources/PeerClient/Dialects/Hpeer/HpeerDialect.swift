import Foundation
import HealthModel
import HealthStore
import NIOCore
import NIOHTTP1
import PeerProtocol
import PeerTrust

/// A session that sends sequential requests for an hpeer's change feed.
struct HpeerSession: PeerSession {
  let settings: PullSettings
  let connection: PeerConnection
  /// The mark that distinguishes this machine from others with the same identity.
  private let mark: MachineMark?
  var limits: ClientLimits { connection.limits }
  private var server: ServerRecord { settings.server }

  init(settings: PullSettings, connection: PeerConnection) {
    (self.settings, self.connection) = (settings, connection)
    mark = MachineMark.own(settings.store.directory)
  }

  func prepareToStartOver() async throws {
    _ = try await settings.persons?.admit(server, into: settings.store, over: connection)
  }

  func answer(since position: String?, wait: Int?) async throws -> any IncomingAnswer {
    let (head, owner) = try await send(path(since: position, wait: wait))
    guard head.status == .ok else { throw try await refusal(head, since: position) }
    return try IncomingFeed(connection, head, since: position, owner: owner, heard: settings.heard)
  }

  /// Sends a request for the record of the agreed person. If the server's record is of another person by now,
  /// compares the persons once more.
  ///
  /// - Returns: also the required state of the store for applying the answer.
  private func send(_ path: String) async throws -> (head: HTTPResponseHead, owner: RecordOwner?) {
    var headers = [("Authorization", "Bearer \(server.credential.text)"), ("Accept", Self.accept)]
    if let ownName = settings.ownName { headers.append((PeerName.header, PeerName.encoded(ownName))) }
    if let mark { headers.append((MachineMark.header, mark.text)) }
    guard let persons = settings.persons else { return (try await connection.send(.GET, path, headers: headers), nil) }
    func append(_ mark: String?) {
      if let mark { headers.append((PersonAnswer.markHeader, mark)) }
    }
    let count = headers.count
    var admission = try await persons.admit(server, into: settings.store, over: connection)
    append(admission.mark)
    let head = try await connection.send(.GET, path, headers: headers)
    guard head.status == .preconditionFailed, headers.count > count else { return (head, admission.owner) }
    _ = try await connection.body()
    headers.removeLast()
    admission = try await persons.admit(server, into: settings.store, over: connection, asksAgain: true)
    append(admission.mark)
    return (try await connection.send(.GET, path, headers: headers), admission.owner)
  }

  /// The `Accept` header field: columns are preferred, lines accepted.
  private static let accept = "\(ChangeFeedFormat.columns.rawValue), \(ChangeFeedFormat.lines.rawValue);q=0.1"

  private func path(since token: String?, wait: Int?) -> String {
    var query: [String] = []
    if let token { query.append("since=\(Self.escaped(token))") }
    if let wait { query.append("wait=\(wait)") }
    if !settings.types.isEmpty {
      query.append("types=\(settings.types.map { Self.escaped($0.rawValue) }.sorted().joined(separator: ","))")
    }
    return Route.changes + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }

  /// Percent-encodes a token or an unknown identifier, which may contain any characters.
  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// The unreserved characters of RFC 3986 section 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private func refusal(_ head: HTTPResponseHead, since: String?) async throws -> PeerError {
    let raw = try await connection.body()
    switch head.status.code {
    case 401: return .tokenRefused(peer: server.name)
    case 403: return .onlyDaily(peer: server.name)
    // A request without a token has no position to start over from.
    case 410 where since != nil: return .tokenGone
    case 423: return .machineLocked(peer: server.name)
    case 429, 503: return .busy(retryAfter: head.retryAfter)
    default: return connection.failure(status: Int(head.status.code), raw: raw)
    }
  }
}

/// The dialect of hpeer itself: the change feed, described in `docs/protocol/changes.md`.
public struct HpeerDialect: PeerDialect {
  public static let name = "hpeer"

  let settings: PullSettings

  public init(_ settings: PullSettings) { self.settings = settings }

  /// Returns whether the announcement has an ID, which only hpeer announces.
  public static func recognises(_ announcement: DiscoveredPeer) -> Bool { announcement.id != nil }

  /// Returns whether the server's status names hpeer's protocol.
  public static func recognises(_ greeting: ServerProbe) async throws -> Bool {
    let answer = try await greeting.answer(to: Route.status)
    let status = try? JSONDecoder().decode(Envelope<StatusData>.self, from: Data(answer.body)).data
    return answer.status == 200 && status?.protocol == StatusData.protocolName
  }

  /// Parses hpeer's own URI or HealthAppTransfer's JSON object. Pair with the result using a ``PairingSession``.
  public static func invitation(in text: String) throws -> PairingInvitation? {
    do {
      let payload = try PairingPayload.parseForeign(text) ?? PairingPayload.parse(text)
      return PairingInvitation(
        host: payload.host, port: payload.port, fingerprint: payload.fingerprint, code: payload.code.digits,
        expiry: payload.expiry)
    } catch PairingPayloadError.notAPayload, PairingPayloadError.codeOfAnotherApp {
      return nil
    }
  }

  public static func invitation(typed code: String, for fingerprint: Fingerprint) -> PairingInvitation? {
    PairingCode(code).map {
      PairingInvitation(host: nil, port: nil, fingerprint: fingerprint, code: $0.digits, expiry: nil)
    }
  }

  /// Opens one connection for all requests.
  public func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result {
    try await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(settings.server.fingerprint, peer: settings.server.name),
      identity: settings.identity, silenceLimit: settings.silenceLimit, handshakeLimit: settings.handshakeLimit
    ) { connection in
      try await body(HpeerSession(settings: settings, connection: connection))
    }
  }
}
