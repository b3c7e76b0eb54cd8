/// The limits on the resources that one sender, or all senders together, may use of an inbox.
public struct InboxLimits: Hashable, Sendable {
  /// The maximum bytes of a body as it is sent; more is 413.
  public var bodyBytes = 16 << 20
  /// The maximum time from the end of a request's head to the end of its body; longer is 408.
  public var bodyTime = Duration.seconds(120)
  /// The minimum bytes of a body that must arrive in each ``bodyPace``, except in the last; fewer is 408.
  public var leastBodyBytes = 16 << 10
  /// The interval in which ``leastBodyBytes`` must arrive.
  public var bodyPace = Duration.seconds(20)
  /// The maximum number of bodies in memory at a time, in addition to one of each sender; further bodies wait unread.
  /// Each sender can always have one body in memory, and the owner determines the number of senders.
  public var sharedBodies = 3
  /// The maximum number of bodies of one sender in memory at a time.
  public var bodiesPerSender = 2
  /// The maximum number of waiting bodies of one sender; more are 429. HealthAppTransfer sends one for each of its
  /// 170 types at once.
  public var waitingPerSender = 256
  /// The number of bodies that one sender may send in a burst; more are 429.
  public var bodyBurst = 600
  /// The sustained number of bodies per second for one sender.
  public var bodiesPerSecond = 1.0
  /// The number of samples that one sender may send in a burst, enough for a first export. Beyond it, further bodies
  /// are 429.
  public var sampleBurst = 5_000_000
  /// The sustained number of samples per second for one sender.
  public var samplesPerSecond = 50.0

  /// The number of decompressed bytes that count as one sample, regardless of the actual samples, because all of them
  /// may be kept.
  public var bytesPerSample = 1024

  /// Creates the limits of `hpeer serve --inbox`.
  public init() {}

  /// The corresponding limits of connections.
  var serving: ServingLimits {
    var limits = ServingLimits()
    limits.bodyBytes = bodyBytes
    // The chunks of a chunked body have headers of their own.
    limits.requestBytes = bodyBytes + bodyBytes / 8 + limits.headBytes
    limits.body = bodyTime
    limits.connections = 256
    limits.connectionsPerAddress = 256
    limits.pairedConnections = 512
    // Two senders at this limit leave room for a third.
    limits.connectionsPerClient = 192
    limits.pipelinedRequests = 2
    limits.requestBurst = 20
    limits.requestsPerSecond = 1
    return limits
  }
}
