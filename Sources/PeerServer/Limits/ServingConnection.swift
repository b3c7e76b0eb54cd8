import HTTPTypes
import NIOCore
import PeerProtocol
import Synchronization

/// One accepted connection, as the limits see it.
final class ServingConnection: Sendable {
  /// The connection that the current task serves.
  @TaskLocal static var current: ServingConnection?

  private let channel: any Channel
  private let table: ConnectionTable
  private let client = Mutex<PeerID?>(nil)
  private let answering = Atomic(false)
  private let following = Atomic(false)

  init(_ channel: any Channel, table: ConnectionTable) {
    self.channel = channel
    self.table = table
  }

  /// Whether a request with a valid token has come over this connection.
  var isPaired: Bool { client.withLock { $0 != nil } }

  /// Whether a whole request has arrived and its answer has not yet left.
  var isAnswering: Bool {
    get { answering.load(ordering: .relaxed) }
    set { answering.store(newValue, ordering: .relaxed) }
  }

  /// Whether it is on record that requests over this connection wait for changes.
  var isFollowing: Bool {
    get { following.load(ordering: .relaxed) }
    set { following.store(newValue, ordering: .relaxed) }
  }

  /// Why nothing but a request with a token is served here, if so.
  var refusal: ConnectionTable.Refusal? { table.refusal(of: self) }

  /// The current request bears a valid token of this client. Throws ``ServerFailure`` 503 when as many paired connections
  /// as there may be are all at work, 429 when the client's are.
  func showToken(of client: PeerID) throws {
    // One that bears another's token from now on counts as the other's.
    if self.client.withLock({ $0 == client }) { return }
    switch table.pair(self, with: client) {
    case .full: throw ServerFailure.tooBusy
    case .clientFull: throw ServerFailure.tooManyOfClient
    case .paired(let replaced):
      self.client.withLock { $0 = client }
      replaced?.abort()
    }
  }

  /// Ends the connection at once, without a TLS goodbye, which its other side could draw out.
  func abort() {
    channel.triggerUserOutboundEvent(ConnectionAbort(), promise: nil)
  }
}

/// Asks ``ConnectionGuard``, which stands below TLS, to close the socket.
struct ConnectionAbort: Sendable {}

extension ServerFailure {
  /// Too many requests or connections from the caller's address.
  static func tooMany(retryAfter seconds: Int, closing: Bool) -> Self {
    var headers: HTTPFields = [.retryAfter: String(seconds)]
    if closing { headers[.connection] = "close" }
    return .init(
      status: .tooManyRequests, message: "Too many requests from this address: try again in \(seconds) s.",
      headers: headers)
  }

  /// 503: all addresses together have too many connections.
  static var tooBusy: Self {
    .init(
      status: .serviceUnavailable, message: "Too many connections: try again in 5 s.",
      headers: [.retryAfter: "5", .connection: "close"])
  }
}
