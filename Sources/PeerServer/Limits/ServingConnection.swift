import HTTPTypes
import NIOCore
import PeerProtocol
import Synchronization

/// An accepted connection, with the state that the limits need.
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

  /// Whether the connection has carried a request with a valid token.
  var isPaired: Bool { client.withLock { $0 != nil } }

  /// Whether a complete request has arrived that is not yet answered.
  var isAnswering: Bool {
    get { answering.load(ordering: .relaxed) }
    set { answering.store(newValue, ordering: .relaxed) }
  }

  /// Whether the audit log already has an entry about long polls over this connection.
  var isFollowing: Bool {
    get { following.load(ordering: .relaxed) }
    set { following.store(newValue, ordering: .relaxed) }
  }

  /// The reason why this connection only serves requests with a token, or nil if it serves all.
  var refusal: ConnectionTable.Refusal? { table.refusal(of: self) }

  /// Notes that the current request has a valid token of this client. Throws ``ServerFailure`` 503 if all paired
  /// connections are busy and at their limit, or 429 if the client's are.
  func showToken(of client: PeerID) throws {
    // If a later request has another client's token, the connection counts as the other client's.
    if self.client.withLock({ $0 == client }) { return }
    switch table.pair(self, with: client) {
    case .full: throw ServerFailure.tooBusy
    case .clientFull: throw ServerFailure.tooManyOfClient
    case .paired(let replaced):
      self.client.withLock { $0 = client }
      replaced?.abort()
    }
  }

  /// Closes the connection at once, without the TLS closing exchange, which the other side could delay.
  func abort() {
    channel.triggerUserOutboundEvent(ConnectionAbort(), promise: nil)
  }
}

/// An event that asks ``ConnectionGuard``, below TLS, to close the socket.
struct ConnectionAbort: Sendable {}

extension ServerFailure {
  /// Returns the 429 failure for too many requests or connections from the caller's address.
  static func tooMany(retryAfter seconds: Int, closing: Bool) -> Self {
    var headers: HTTPFields = [.retryAfter: String(seconds)]
    if closing { headers[.connection] = "close" }
    return .init(
      status: .tooManyRequests, message: "Too many requests from this address: try again in \(seconds) s.",
      headers: headers)
  }

  /// The 503 failure for too many connections from all addresses together.
  static var tooBusy: Self {
    .init(
      status: .serviceUnavailable, message: "Too many connections: try again in 5 s.",
      headers: [.retryAfter: "5", .connection: "close"])
  }
}
