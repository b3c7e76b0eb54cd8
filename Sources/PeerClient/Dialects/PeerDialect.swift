import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// The protocol of one kind of server of `_healthsync._tcp`: hpeer's own, or that of an app on a phone.
///
/// A dialect knows the requests and interprets the answers. ``Pull`` and ``Follow`` commit what it returns, each
/// batch with the position that follows it, and handle counting, waiting and restarting. To add a dialect, add a
/// folder beside this file and a line in ``PeerDialects``.
public protocol PeerDialect: Sendable {
  /// The dialect's name in lists and in ``ServerRecord/dialect``.
  static var name: String { get }
  /// The properties in which its servers differ from those of other dialects.
  static var traits: DialectTraits { get }

  /// Returns whether an announcement alone identifies a server of this dialect. It proves nothing, and no secret is
  /// sent because of it.
  static func recognises(_ announcement: DiscoveredPeer) -> Bool

  /// Returns whether a server's unauthenticated answers are those of this dialect.
  static func recognises(_ greeting: ServerProbe) async throws -> Bool

  /// Parses the text of a QR code of this dialect, or returns `nil` for any other text.
  ///
  /// Throws ``PairingPayloadError`` if the text is of this dialect but unusable.
  static func invitation(in text: String) throws -> PairingInvitation?

  /// Returns the invitation for a typed code and the certificate it belongs to, or `nil` if the text is not a code of
  /// this dialect.
  static func invitation(typed code: String, for fingerprint: Fingerprint) -> PairingInvitation?

  /// Pairs with a recognized server that has shown the invitation's certificate. The caller stores the returned
  /// record.
  ///
  /// - Parameters:
  ///   - name: the name for the server in this machine's lists; `nil` for the server's own.
  ///   - own: this machine's identity; `ownName` is the name that the server is told.
  static func pair(
    _ invitation: PairingInvitation, at endpoint: PeerEndpoint, name: String?, own: PeerIdentity, ownName: String
  ) async throws -> ServerRecord

  /// Returns the coverage recorded in a position of this dialect, or `nil` if pulls are always complete.
  static func coverage(of position: String) -> PullCoverage?

  init(_ settings: PullSettings)

  /// Connects with the pinned certificate only, runs `body`, and disconnects.
  func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result

  /// Finds samples that the server has and the store lacks, without changing anything.
  ///
  /// - Returns: `nil` if the dialect's servers have a digest, which is compared instead.
  func compare(
    at endpoint: PeerEndpoint, progress: (VerifyProgress) async -> Void
  ) async throws -> Verification?
}

/// The properties in which the servers of dialects differ.
public struct DialectTraits: Hashable, Sendable {
  /// The required TLS properties; `nil` for hpeer's own connections.
  public var transport: TransportProfile?
  /// Advice for apps on phones: which app to open and what to tap; `nil` for a program that always runs.
  public var advice: String?
  /// Whether the app can copy its code as text; if not, it only shows a QR code. Meaningless for programs.
  public var copiesCode = true
  /// Whether the app can show a code without having an IPv4 address.
  public var showsCodeWithoutIPv4 = true
  /// Whether a client can tell the server to end the pairing.
  public var canBeTold = true
  /// Whether each use of the token extends its validity.
  public var renewsToken = true

  /// Creates the traits of hpeer.
  public init() {}

  /// Whether the server is an app on a phone: available only while it is open, with another port each time.
  public var isApp: Bool { advice != nil }
}

/// The list of all dialects, and lookups in it.
public enum PeerDialects {
  /// All dialects, in the order in which they examine an announcement.
  public static let all: [any PeerDialect.Type] = [
    HpeerDialect.self, HealthAppTransferDialect.self, HealthSyncDialect.self,
  ]

  /// Returns the dialect identified by an announcement, or `nil` if the announcement does not identify one that hpeer
  /// speaks.
  public static func dialect(of announcement: DiscoveredPeer) -> (any PeerDialect.Type)? {
    all.first { $0.recognises(announcement) }
  }

  /// Returns the dialect of a paired server, or `nil` if this version lacks it.
  public static func dialect(named name: String) -> (any PeerDialect.Type)? {
    all.first { $0.name == name }
  }

  /// Returns the dialect that a server's unauthenticated answers identify, or `nil` if hpeer does not speak it.
  public static func dialect(
    of greeting: ServerProbe, among candidates: [any PeerDialect.Type] = all
  ) async throws -> (any PeerDialect.Type)? {
    for dialect in candidates where try await dialect.recognises(greeting) { return dialect }
    return nil
  }
}

extension ServerRecord {
  /// The traits of this server's dialect, or hpeer's if this version lacks the dialect.
  public var traits: DialectTraits { PeerDialects.dialect(named: dialect)?.traits ?? DialectTraits() }
}

// Defaults that suit most dialects.
extension PeerDialect {
  public static var traits: DialectTraits { DialectTraits() }
  public static func recognises(_ greeting: ServerProbe) async throws -> Bool { false }
  public static func invitation(in text: String) throws -> PairingInvitation? { nil }
  public static func invitation(typed code: String, for fingerprint: Fingerprint) -> PairingInvitation? { nil }
  public static func coverage(of position: String) -> PullCoverage? { nil }

  public static func pair(
    _ invitation: PairingInvitation, at endpoint: PeerEndpoint, name: String?, own: PeerIdentity, ownName: String
  ) async throws -> ServerRecord {
    throw PeerError.unknownDialect(peer: name ?? endpoint.description, dialect: Self.name)
  }

  public func compare(
    at endpoint: PeerEndpoint, progress: (VerifyProgress) async -> Void
  ) async throws -> Verification? { nil }
}

extension DiscoveredPeer {
  /// Whether the announcement identifies a dialect that hpeer speaks, so that this machine can pair with the server.
  public var isUnderstood: Bool { PeerDialects.dialect(of: self) != nil }
}

/// A session with one server.
public protocol PeerSession {
  var limits: ClientLimits { get }

  /// Called before a pull starts over. Throws if the server's record must not be stored in this store.
  func prepareToStartOver() async throws

  /// Requests the changes after a position.
  ///
  /// Throws ``PeerError/tokenGone`` if the server cannot continue from the position.
  ///
  /// - Parameters:
  ///   - position: the position of an earlier batch; `nil` for the beginning.
  ///   - wait: the number of seconds for which the server may hold the request until there are changes; `nil` for
  ///     none.
  func answer(since position: String?, wait: Int?) async throws -> any IncomingAnswer
}

/// An answer of a server, read batch by batch as it arrives. Each batch has changes and another position than the
/// previous one, or is the last.
public protocol IncomingAnswer {
  /// The server's current name, if it sends one.
  var peerName: String? { get }
  /// The mark that distinguishes the server from machines with the same identity, if it sends one.
  var machine: MachineMark? { get }
  /// The maximum number of changes that follow the requested position, according to the server.
  var expected: Int? { get }
  /// The required state of the store for applying the answer; `nil` if there is no requirement.
  var owner: RecordOwner? { get }
  /// The number of bytes of all answers of the session.
  var bytesReceived: Int { get }
  /// The sender, recorded with the samples so that it is known later which of them came from it first. Used together
  /// with ``owner``; `nil` to record none.
  var sender: String? { get }
  /// The number of requests for this answer beyond the first.
  var furtherRequests: Int { get }

  /// Returns the arrived batches: none at the end of the answer, else one, or more while `write` is in progress.
  ///
  /// An error that ends the answer early is kept for ``requireEnd()``, because earlier batches must be saved first.
  ///
  /// - Parameter bytes: the size of the batches being written.
  mutating func batches(during write: Ongoing?, beside bytes: Int) async -> IncomingBatches

  /// Throws the error that ended the answer early, if any.
  func requireEnd() throws
}

extension IncomingAnswer {
  public var furtherRequests: Int { 0 }
  public var sender: String? { nil }
  public var machine: MachineMark? { nil }
}

/// The batches that are written together.
public struct IncomingBatches: Sendable {
  public var batches: [ChangeFeedBatch] = []
  /// The approximate size of the batches in memory.
  public var bytes = 0

  public init() {}
}
