/// What one sender, and all of them together, may take of an inbox.
public struct InboxLimits: Hashable, Sendable {
  /// Maximum bytes of a body as it is sent; more is 413.
  public var bodyBytes = 16 << 20
  /// Maximum time from the end of a request's head to the end of its body; longer is 408.
  public var bodyTime = Duration.seconds(120)
  /// Fewest bytes of a body that must come in each ``bodyPace``, but for its last; less is 408.
  public var leastBodyBytes = 16 << 10
  /// How often is looked whether ``leastBodyBytes`` have come.
  public var bodyPace = Duration.seconds(20)
  /// Maximum bodies that are in memory at once, of all senders, beside one of each sender; further ones wait unread. A
  /// sender has its one whatever others hold, and there are as many senders as the owner has added.
  public var sharedBodies = 3
  /// Maximum bodies that are in memory at once of one sender.
  public var bodiesPerSender = 2
  /// Maximum bodies of one sender that wait; more are 429. HealthAppTransfer sends one for each of its 170 types at once.
  public var waitingPerSender = 256
  /// Bodies that one sender may send in a burst; more are 429.
  public var bodyBurst = 600
  /// Bodies that one sender may send each second in the long run.
  public var bodiesPerSecond = 1.0
  /// Samples that one sender may send in a burst: what a first export may hold. Beyond it, further bodies are 429.
  public var sampleBurst = 5_000_000
  /// Samples that one sender may send each second in the long run.
  public var samplesPerSecond = 50.0

  /// Bytes of a body, not compressed, that count as a sample however few samples it has: all of them may be kept.
  public var bytesPerSample = 1024

  /// Those of `hpeer serve --inbox`.
  public init() {}

  /// The limits of the connections.
  var serving: ServingLimits {
    var limits = ServingLimits()
    limits.bodyBytes = bodyBytes
    // Chunks of a chunked body have heads of their own.
    limits.requestBytes = bodyBytes + bodyBytes / 8 + limits.headBytes
    limits.body = bodyTime
    limits.connections = 256
    limits.connectionsPerAddress = 256
    limits.pairedConnections = 512
    // Two senders that fill theirs leave room for a third.
    limits.connectionsPerClient = 192
    limits.pipelinedRequests = 2
    limits.requestBurst = 20
    limits.requestsPerSecond = 1
    return limits
  }
}
