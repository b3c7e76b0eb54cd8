import PeerProtocol

/// What one request, one connection, one address and all of them together may take of a server.
///
/// Whoever is on the network can connect, so nothing here depends on good will: every buffer and every wait that a
/// stranger can cause ends at one of these numbers. Callers that have shown a valid token are counted apart from all
/// others, so that a crowd of strangers cannot keep paired machines out, not even from the same address.
public struct ServingLimits: Hashable, Sendable {
  // MARK: One connection

  /// Bytes that are read before it is known whom TLS is to be spoken with; a longer ClientHello is left to TLS to refuse.
  public var clientHelloBytes = ClientHelloReader.defaultLimit

  // MARK: One request

  /// Bytes of the request line and all header fields; more is 431. All 180 type names in one query fit.
  public var headBytes = 32 * 1024
  /// Header fields of a request; more is 431.
  public var headFields = 100
  /// Bytes of a request body; more is 413. A pairing message has a few hundred.
  public var bodyBytes = 16 * 1024
  /// Bytes of a request with its framing (chunk extensions, trailers, empty lines); more ends the connection.
  public var requestBytes = 64 * 1024
  /// Requests that wait for their answers in one connection; more ends it.
  public var pipelinedRequests = 16

  // MARK: Time

  /// From the connection to the end of its ClientHello.
  public var clientHello = Duration.seconds(5)
  /// From the connection to the end of the TLS handshake.
  public var handshake = Duration.seconds(15)
  /// From there to the first byte of a request.
  public var firstRequest = Duration.seconds(15)
  /// From the first byte of a request to the end of its head; longer is 408.
  public var head = Duration.seconds(10)
  /// From there to the end of its body; longer is 408.
  public var body = Duration.seconds(15)
  /// Between two requests.
  public var idle = Duration.seconds(60)
  /// How long a paired client may leave a full buffer unread. Longer than its store may keep it waiting.
  public var stalledClient = Duration.seconds(120)
  /// How long anyone else may.
  public var stalledStranger = Duration.seconds(15)
  /// How long a connection that is being closed may take over its last bytes.
  public var linger = Duration.seconds(10)
  /// How long a connection that makes no progress may delay a shutdown.
  public var shutdown = Duration.seconds(1)

  // MARK: Waiting for changes

  /// For how long a request may ask to wait; more is 400.
  public var wait = Duration.seconds(50)
  /// How often the right of one that waits is looked at again: what revoking its token takes to end it.
  public var waitRecheck = Duration.seconds(5)
  /// Requests that wait at a time; more are 503. Each holds a connection that counts as at work.
  public var waits = 512
  /// Those of one client.
  public var waitsPerClient = 32

  // MARK: Answers to a client

  /// Answers that one client may be sent at a time: each holds two pages of samples in memory, some MiB at most, until they
  /// are read. Its other requests wait for their turn, as many as it may have connections; more are 429.
  public var answersPerClient = 4
  /// How often the right to an answer that is being sent is looked at, beside before each page of it.
  public var rightRecheck = Duration.milliseconds(500)

  // MARK: Connections

  /// Connections, in all, that have shown no token. The oldest idle one of the address that has the most makes room.
  public var connections = 4096
  /// Those of one IPv4 address or one IPv6 /64. The oldest idle one makes room.
  public var connectionsPerAddress = 2560
  /// Connections that have shown a valid token. The one that has been connected longest among the idle makes room.
  public var pairedConnections = 1024
  /// Those of one client; its oldest idle one makes room.
  public var connectionsPerClient = 96
  /// Connections beyond these that are only told so (429, 503); any more are closed without a word.
  public var refusedConnections = 32

  // MARK: Requests without a token

  /// Requests without a valid token that one address may send at once; more are 429.
  public var requestBurst = 120
  /// Such requests that an address may send each second in the long run. Each may cost a multiplication on P-256.
  public var requestsPerSecond = 20
  /// Addresses that are kept account of; the one that has been quiet longest is forgotten first.
  public var accountedAddresses = 4096

  /// The limits that `hpeer serve` has; tests set their own.
  public init() {}
}

extension ServingLimits {
  /// Descriptors that are left to the store, the audit log, Avahi and the control socket.
  private static let reservedDescriptors = 96
  /// Most a process is asked to have; enough for the numbers above.
  static let wantedDescriptors = 8192

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
