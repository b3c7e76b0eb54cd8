import PeerProtocol

/// The limits on the resources that a request, a connection, an address, and all of them together may use of a
/// server.
///
/// Anyone on the network can connect, so every buffer and every wait that a stranger can cause is bounded by one of
/// these numbers. Callers that have shown a valid token are counted separately, so that many strangers cannot keep
/// paired machines out, not even from the same address.
public struct ServingLimits: Hashable, Sendable {
  // MARK: One connection

  /// The maximum bytes buffered while the ClientHello is read. TLS refuses a longer one.
  public var clientHelloBytes = ClientHelloReader.defaultLimit

  // MARK: One request

  /// The maximum bytes of the request line and all header fields; more is 431. All 180 type names fit into one query.
  public var headBytes = 32 * 1024
  /// The maximum number of header fields of a request; more is 431.
  public var headFields = 100
  /// The maximum bytes of a request body; more is 413. A pairing message has a few hundred.
  public var bodyBytes = 16 * 1024
  /// The maximum bytes of a request with its framing (chunk extensions, trailers, empty lines); more ends the
  /// connection.
  public var requestBytes = 64 * 1024
  /// The maximum number of unanswered pipelined requests on one connection; more ends the connection.
  public var pipelinedRequests = 16

  // MARK: Time

  /// The maximum time from accepting the connection to the end of its ClientHello.
  public var clientHello = Duration.seconds(5)
  /// The maximum time from accepting the connection to the end of the TLS handshake.
  public var handshake = Duration.seconds(15)
  /// The maximum time from the end of the handshake to the first byte of a request.
  public var firstRequest = Duration.seconds(15)
  /// The maximum time from the first byte of a request to the end of its head; longer is 408.
  public var head = Duration.seconds(10)
  /// The maximum time from the end of a request's head to the end of its body; longer is 408.
  public var body = Duration.seconds(15)
  /// The keep-alive time: the maximum time between two requests.
  public var idle = Duration.seconds(60)
  /// The maximum time that a paired client may leave a full send buffer unread. Longer than a client's store may
  /// take.
  public var stalledClient = Duration.seconds(120)
  /// The maximum time that any other caller may leave a full send buffer unread.
  public var stalledStranger = Duration.seconds(15)
  /// The maximum time that a closing connection may take for its last bytes.
  public var linger = Duration.seconds(10)
  /// The maximum time that a connection without progress may delay a shutdown.
  public var shutdown = Duration.seconds(1)

  // MARK: Waiting for changes

  /// The maximum time that a long poll may ask for; more is 400.
  public var wait = Duration.seconds(50)
  /// The interval at which a long poll's authorization is rechecked. A revoked token, or one of a locked machine, is
  /// noticed within this time.
  public var waitRecheck = Duration.milliseconds(800)
  /// The maximum number of concurrent long polls; more are 503. Each holds a connection that counts as busy.
  public var waits = 512
  /// The maximum number of concurrent long polls of one client; more are 503.
  public var waitsPerClient = 32

  // MARK: Answers to a client

  /// The maximum number of concurrent responses to one client. Each holds two pages of samples in memory, a few MiB
  /// at most, until they are read. Further requests queue, up to ``connectionsPerClient``; more are 429.
  public var answersPerClient = 4
  /// The interval at which the authorization is rechecked while a page is being written, in addition to the check
  /// before each page.
  public var rightRecheck = Duration.milliseconds(500)

  // MARK: Connections

  /// The maximum number of connections without a valid token, from all addresses. For a new one, the oldest idle
  /// connection of the address with the most is closed.
  public var connections = 4096
  /// The maximum number of connections without a valid token from one IPv4 address or one IPv6 /64. The oldest idle
  /// one is closed for a new one.
  public var connectionsPerAddress = 2560
  /// The maximum number of connections that have shown a valid token, of all clients. For a new one, the oldest idle
  /// connection of the client with the most is closed.
  public var pairedConnections = 1024
  /// The maximum number of connections that have shown a valid token of one client. Its oldest idle one is closed for
  /// a new one.
  public var connectionsPerClient = 96
  /// The maximum number of connections over these limits that are answered with a refusal (429, 503). Further ones
  /// are closed without an answer.
  public var refusedConnections = 32

  // MARK: Requests without a token

  /// The size of the token bucket: the requests without a valid token that one address may send in a burst; more are
  /// 429.
  public var requestBurst = 120
  /// The rate of the token bucket: the sustained number of such requests per second from one address. Each may cost a
  /// multiplication on P-256.
  public var requestsPerSecond = 20
  /// The maximum number of addresses with a token bucket. The least recently used are evicted first.
  public var accountedAddresses = 4096

  /// Creates the limits of `hpeer serve`; tests set their own.
  public init() {}
}

extension ServingLimits {
  /// The number of file descriptors reserved for the store, the audit log, Avahi and the control socket.
  private static let reservedDescriptors = 96
  /// The number of file descriptors that the process requests, enough for the limits above.
  static let wantedDescriptors = 16_384

  /// Returns the limits reduced to the connections that `descriptors` allow, a quarter of them for paired clients.
  func fitting(descriptors: Int) -> Self {
    let available = max(24, descriptors - Self.reservedDescriptors)
    guard connections + pairedConnections + refusedConnections > available else { return self }
    var limits = self
    limits.refusedConnections = min(refusedConnections, available / 8)
    limits.pairedConnections = min(pairedConnections, available / 4)
    limits.connectionsPerClient = min(connectionsPerClient, limits.pairedConnections)
    limits.waits = min(waits, max(1, limits.pairedConnections / 2))
    limits.connections = min(connections, available - limits.refusedConnections - limits.pairedConnections)
    limits.connectionsPerAddress = min(connectionsPerAddress, limits.connections)
    return limits
  }
}
