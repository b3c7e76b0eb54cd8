import PeerProtocol

/// What one request, one connection, one address and all of them together may take of a server.
///
/// Whoever is on the network can connect, so nothing here depends on good will: every buffer and every wait that a
/// stranger can cause ends at one of these numbers. Callers that have shown a valid token are counted apart from all
/// others, so that a crowd of strangers cannot keep paired machines out, not even from the same address.
public struct ServingLimits: Hashable, Sendable {
  // MARK: One connection

  /// Maximum bytes buffered while the ClientHello is read; a longer one is left to TLS to refuse.
  public var clientHelloBytes = ClientHelloReader.defaultLimit

  // MARK: One request

  /// Maximum bytes of the request line and all header fields; more is 431. All 180 type names in one query fit.
  public var headBytes = 32 * 1024
  /// Maximum header fields of a request; more is 431.
  public var headFields = 100
  /// Maximum bytes of a request body; more is 413. A pairing message has a few hundred.
  public var bodyBytes = 16 * 1024
  /// Maximum bytes of a request with its framing (chunk extensions, trailers, empty lines); more ends the connection.
  public var requestBytes = 64 * 1024
  /// Maximum pipelined requests of one connection that are not answered yet; more ends it.
  public var pipelinedRequests = 16

  // MARK: Time

  /// Maximum time from accepting the connection to the end of its ClientHello.
  public var clientHello = Duration.seconds(5)
  /// Maximum time from accepting the connection to the end of the TLS handshake.
  public var handshake = Duration.seconds(15)
  /// Maximum time from the end of the handshake to the first byte of a request.
  public var firstRequest = Duration.seconds(15)
  /// Maximum time from the first byte of a request to the end of its head; longer is 408.
  public var head = Duration.seconds(10)
  /// Maximum time from the end of a request's head to the end of its body; longer is 408.
  public var body = Duration.seconds(15)
  /// Keep-alive: maximum time between two requests.
  public var idle = Duration.seconds(60)
  /// Maximum time that a paired client may leave a full send buffer unread. Longer than its store may keep it waiting.
  public var stalledClient = Duration.seconds(120)
  /// Maximum time that any other caller may leave a full send buffer unread.
  public var stalledStranger = Duration.seconds(15)
  /// Maximum time that a connection which is being closed may take over its last bytes.
  public var linger = Duration.seconds(10)
  /// Maximum time that a connection without progress may delay a shutdown.
  public var shutdown = Duration.seconds(1)

  // MARK: Waiting for changes

  /// Maximum time that a long poll may ask for; more is 400.
  public var wait = Duration.seconds(50)
  /// How often the authorisation of a long poll is rechecked: how long a revoked token, or one of a machine that is locked, can
  /// stay in one.
  public var waitRecheck = Duration.milliseconds(800)
  /// Long-poll permits in all: maximum concurrent long polls; more are 503. Each holds a connection that counts as at
  /// work.
  public var waits = 512
  /// Long-poll permits of one client; more are 503.
  public var waitsPerClient = 32

  // MARK: Answers to a client

  /// Maximum concurrent responses to one client: each holds two pages of samples in memory, some MiB at most, until
  /// they are read. Its further requests queue, up to ``connectionsPerClient``; more are 429.
  public var answersPerClient = 4
  /// How often the authorisation is rechecked while a page of a response is being written, beside before each page.
  public var rightRecheck = Duration.milliseconds(500)

  // MARK: Connections

  /// Maximum connections without a valid token, of all addresses. The oldest idle one of the address with the most is
  /// closed for a new one.
  public var connections = 4096
  /// Maximum connections without a valid token of one IPv4 address or one IPv6 /64. The oldest idle one is closed for a
  /// new one.
  public var connectionsPerAddress = 2560
  /// Maximum connections that have shown a valid token, of all clients. The oldest idle one of the client with the most
  /// is closed for a new one.
  public var pairedConnections = 1024
  /// Maximum connections that have shown a valid token of one client. Its oldest idle one is closed for a new one.
  public var connectionsPerClient = 96
  /// Maximum connections beyond these that are answered with a refusal (429, 503); further ones are closed without an
  /// answer.
  public var refusedConnections = 32

  // MARK: Requests without a token

  /// Token bucket size: requests without a valid token that one address may send in a burst; more are 429.
  public var requestBurst = 120
  /// Token bucket rate: such requests that an address may send each second in the long run. Each may cost a
  /// multiplication on P-256.
  public var requestsPerSecond = 20
  /// Maximum addresses with a token bucket; the least recently seen is evicted first.
  public var accountedAddresses = 4096

  /// The limits that `hpeer serve` has; tests set their own.
  public init() {}
}

extension ServingLimits {
  /// File descriptors reserved for the store, the audit log, Avahi and the control socket.
  private static let reservedDescriptors = 96
  /// Most a process is asked to have; enough for the numbers above.
  static let wantedDescriptors = 16_384

  /// The same limits with no more connections than `descriptors` allow, the paired ones having a quarter.
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
