import HealthStore
import PeerProtocol
import PeerTrust

/// How one kind of server of `_healthsync._tcp` is pulled from: hpeer's own, or an app's on a phone.
///
/// ``Pull`` and ``Follow`` commit what a dialect brings, each batch with the position that follows it; they keep count,
/// wait and begin again. A dialect knows the requests and what the answers mean. Adding one is a folder beside this file
/// and a line in ``PeerDialects``.
public protocol PeerDialect: Sendable {
  /// What lists call servers that speak it, and ``ServerRecord/dialect`` of those that are paired with.
  static var name: String { get }

  /// Whether an announcement is one of this dialect's servers'. It proves nothing, and nothing secret is sent for it.
  static func recognises(_ announcement: DiscoveredPeer) -> Bool

  init(_ settings: PullSettings)

  /// Makes contact, with the pinned certificate only, for as long as `body` runs.
  func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result
}

/// All dialects.
public enum PeerDialects {
  /// In the order in which an announcement is shown to them.
  public static let all: [any PeerDialect.Type] = [HpeerDialect.self]

  /// The dialect of a server that announces itself so; `nil` for one that hpeer does not speak.
  public static func dialect(of announcement: DiscoveredPeer) -> (any PeerDialect.Type)? {
    all.first { $0.recognises(announcement) }
  }
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
  /// Maximum changes that follow the position that was asked with, as the server counts them.
  var expected: Int? { get }
  /// How the store must be for this to be taken in; `nil` where that is not asked.
  var owner: RecordOwner? { get }
  /// Of all answers of the session.
  var bytesReceived: Int { get }

  /// Batches that have arrived: none at the end of the answer, else one, or more as long as `write` is under way.
  ///
  /// What ends the answer early is kept for ``requireEnd()``: what came before it is to be saved first.
  ///
  /// - Parameter bytes: of the batches that are being written.
  mutating func batches(during write: Ongoing?, beside bytes: Int) async -> IncomingBatches

  /// Throws what ended the answer early.
  func requireEnd() throws
}

/// Batches that are written together.
public struct IncomingBatches: Sendable {
  public var batches: [ChangeFeedBatch] = []
  /// The approximate size of the batches in memory.
  public var bytes = 0

  public init() {}
}
