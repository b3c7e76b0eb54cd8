import Foundation
import HealthModel
import PeerClient
import PeerProtocol
import Synchronization

/// An in-memory connection from a client to an app: without sockets and TLS, and with a clock that skips waiting
/// times.
public final class PhoneNetwork: Sendable {
  /// The limits and counters of a network.
  public struct State: Sendable {
    /// The number of requests still answered before the phone is out of reach, or `nil` for no limit.
    public var requestsLeft: Int?
    public var requests = 0
    public var bytes = 0
  }

  public let state = Mutex(State())
  public let clock: VirtualClock
  private let app: any PhoneApp
  private let paces = HealthSyncPaces()

  public init(_ app: any PhoneApp, clock: VirtualClock = VirtualClock()) {
    (self.app, self.clock) = (app, clock)
  }

  public static let fingerprint = Fingerprint(certificateDER: [7])

  /// The network to install in a client during a test.
  package var client: ClientNetwork {
    var network = ClientNetwork()
    network.clock = clock
    network.paces = paces
    network.now = { [clock] in clock.wall }
    network.shakeHands = { _, _, _, _ in Self.fingerprint }
    network.exchange = { [self] request, endpoint, _, _, _ in
      let isThere = state.withLock { state in
        state.requests += 1
        guard let left = state.requestsLeft else { return true }
        state.requestsLeft = left - 1
        return left > 0
      }
      guard isThere else { throw PeerError.unreachable(endpoint: "\(endpoint)", reason: "put away") }
      guard case .answer(let bytes) = app.react(to: request.bytes(to: endpoint)) else {
        throw PeerError.connectionLost(endpoint: "\(endpoint)")
      }
      state.withLock { $0.bytes += bytes.count }
      var reader = AppAnswerReader(ClientLimits())
      guard let answer = try reader.receive(bytes) else { throw PeerError.connectionLost(endpoint: "\(endpoint)") }
      return answer
    }
    return network
  }
}

/// A clock whose time moves only by `sleep`, which returns at once, and by ``advance(by:)``.
public final class VirtualClock: Clock {
  public struct Instant: InstantProtocol {
    public var time: Duration

    public func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
    public func duration(to other: Instant) -> Duration { other.time - time }
    public static func < (first: Instant, second: Instant) -> Bool { first.time < second.time }
  }

  /// The initial time of the wall clock, in seconds since 1970.
  public static let beginning: Int64 = 1_780_000_000
  private let time = Mutex(Duration.zero)

  public init() {}

  public var now: Instant { Instant(time: time.withLock(\.self)) }
  public var minimumResolution: Duration { .nanoseconds(1) }
  /// The wall clock's time, in seconds since 1970.
  public var seconds: Double { Double(Self.beginning) + now.time / .seconds(1) }
  var wall: Timestamp { Timestamp(microseconds: Int64(seconds * 1_000_000)) }

  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    time.withLock { $0 = max($0, deadline.time) }
  }

  public func advance(by duration: Duration) { time.withLock { $0 += duration } }
}
