import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// How one kind of server of `_healthsync._tcp` is spoken with: hpeer's own, or an app's on a phone.
///
/// ``Pull`` and ``Follow`` commit what a dialect brings, each batch with the position that follows it; they keep count,
/// wait and begin again. A dialect knows the requests and what the answers mean. Adding one is a folder beside this file
/// and a line in ``PeerDialects``.
public protocol PeerDialect: Sendable {
  /// What lists call servers that speak it, and ``ServerRecord/dialect`` of those that are paired with.
  static var name: String { get }
  /// How its servers behave where they differ.
  static var traits: DialectTraits { get }

  /// Whether an announcement alone shows that it is one of this dialect's servers'. It proves nothing, and nothing secret
  /// is sent for it.
  static func recognises(_ announcement: DiscoveredPeer) -> Bool

  /// Whether what a server says to anybody is what this dialect's servers say.
  static func recognises(_ greeting: PeerGreeting) async throws -> Bool

  /// What the text of a QR code of this dialect's servers says; `nil` for a text that is none.
  ///
  /// Throws ``PairingPayloadError`` for one that is, and cannot be used.
  static func invitation(in text: String) throws -> PairingInvitation?

  /// What a code that a person typed is an invitation of, together with the certificate that it goes with; `nil` for a
  /// text that is no code of this dialect's servers.
  static func invitation(typed code: String, for fingerprint: Fingerprint) -> PairingInvitation?

  /// Redeems an invitation where its certificate was seen, at a server that has been recognised. What it returns is not kept
  /// yet.
  ///
  /// - Parameters:
  ///   - name: what lists here shall call the server; `nil` for what it calls itself.
  ///   - own: whose name the server is told.
  static func pair(
    _ invitation: PairingInvitation, at endpoint: PeerEndpoint, name: String?, own: PeerIdentity, ownName: String
  ) async throws -> ServerRecord

  /// What a position in a server's record, as this dialect has it, vouches for; `nil` where whatever came is complete.
  static func coverage(of position: String) -> PullCoverage?

  init(_ settings: PullSettings)

  /// Makes contact, with the pinned certificate only, for as long as `body` runs.
  func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result

  /// Which samples the server has that the store lacks, and changes nothing.
  ///
  /// - Returns: `nil` where servers of the dialect have a digest of their own, which is compared instead.
  func compare(
    at endpoint: PeerEndpoint, progress: (VerifyProgress) async -> Void
  ) async throws -> Verification?
}

/// How servers of a dialect behave where they differ.
public struct DialectTraits: Hashable, Sendable {
  /// What they want of a connection; `nil` for hpeer's own connections.
  public var transport: TransportProfile?
  /// The app on a phone that must be open for it, and what to tap there; `nil` for a program that just runs.
  public var advice: String?
  /// Whether the app can copy its code as text; else there is a picture to take of it. Of no meaning for a program.
  public var copiesCode = true
  /// Whether the app has a code to show without an IPv4 address.
  public var showsCodeWithoutIPv4 = true
  /// Whether the server forgets a client that tells it to.
  public var canBeTold = true
  /// Whether each use of the token makes it valid anew.
  public var renewsToken = true

  /// Those of hpeer.
  public init() {}

  /// Whether it is an app on a phone: there while it is open, at another port each time.
  public var isApp: Bool { advice != nil }
}

/// All dialects.
public enum PeerDialects {
  /// In the order in which an announcement is shown to them.
  public static let all: [any PeerDialect.Type] = [
    HpeerDialect.self, HealthAppTransferDialect.self, HealthSyncDialect.self,
  ]

  /// The dialect of a server that announces itself so; `nil` for one that cannot be told by that, or that hpeer does not
  /// speak with.
  public static func dialect(of announcement: DiscoveredPeer) -> (any PeerDialect.Type)? {
    all.first { $0.recognises(announcement) }
  }

  /// The dialect of a paired server; `nil` for one that this version lacks.
  public static func dialect(named name: String) -> (any PeerDialect.Type)? {
    all.first { $0.name == name }
  }

  /// The dialect that a server speaks, by what it says to anybody; `nil` for one that hpeer does not speak with.
  public static func dialect(
    of greeting: PeerGreeting, among candidates: [any PeerDialect.Type] = all
  ) async throws -> (any PeerDialect.Type)? {
    for dialect in candidates where try await dialect.recognises(greeting) { return dialect }
    return nil
  }
}

extension ServerRecord {
  /// How this server behaves; as hpeer's own for a dialect that this version lacks.
  public var traits: DialectTraits { PeerDialects.dialect(named: dialect)?.traits ?? DialectTraits() }
}

// What most dialects have in common.
extension PeerDialect {
  public static var traits: DialectTraits { DialectTraits() }
  public static func recognises(_ greeting: PeerGreeting) async throws -> Bool { false }
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
  /// Whether hpeer speaks its dialect, so that it can be paired with.
  public var isUnderstood: Bool { PeerDialects.dialect(of: self) != nil }
}

/// Contact with one server.
public protocol PeerSession {
  var limits: ClientLimits { get }

  /// Called before everything is asked for again: throws where this server's record is none for the store.
  func prepareToStartOver() async throws

  /// Asks for what follows a position.
  ///
  /// Throws ``PeerError/tokenGone`` for a position that the server cannot continue from.
  ///
  /// - Parameters:
  ///   - position: of a batch that came before; `nil` for the beginning.
  ///   - wait: seconds for which the server may hold the request until there is something; `nil` for none.
  func answer(since position: String?, wait: Int?) async throws -> any IncomingAnswer
}

/// What a server answers, batch by batch, as it arrives. Each batch brings a change and has another position than the one
/// before, or is the last.
public protocol IncomingAnswer {
  /// What the server calls itself now, where it says so.
  var peerName: String? { get }
  /// Which of the machines it is that may have the server's identity, where it says so.
  var machine: MachineMark? { get }
  /// Maximum changes that follow the position that was asked with, as the server counts them.
  var expected: Int? { get }
  /// How the store must be for this to be taken in; `nil` where that is not asked.
  var owner: RecordOwner? { get }
  /// Of all answers of the session.
  var bytesReceived: Int { get }
  /// Who sends it, where it is to be known later what came from there first; goes with ``owner``. `nil` where it is not.
  var sender: String? { get }
  /// Requests that this answer took beyond the first.
  var furtherRequests: Int { get }

  /// Batches that have arrived: none at the end of the answer, else one, or more as long as `write` is under way.
  ///
  /// What ends the answer early is kept for ``requireEnd()``: what came before it is to be saved first.
  ///
  /// - Parameter bytes: of the batches that are being written.
  mutating func batches(during write: Ongoing?, beside bytes: Int) async -> IncomingBatches

  /// Throws what ended the answer early.
  func requireEnd() throws
}

extension IncomingAnswer {
  public var furtherRequests: Int { 0 }
  public var sender: String? { nil }
  public var machine: MachineMark? { nil }
}

/// Batches that are written together.
public struct IncomingBatches: Sendable {
  public var batches: [ChangeFeedBatch] = []
  /// The approximate size of the batches in memory.
  public var bytes = 0

  public init() {}
}
