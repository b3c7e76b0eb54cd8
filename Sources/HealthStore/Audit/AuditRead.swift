/// A read by a peer, as it is written down before anything of it is sent.
///
/// The first of a minute is an event of its own. Those of the same kind that follow within it are counted, so that a peer
/// that asks without end cannot fill the disk; see ``HealthStore/Audit/record(_:at:read:)``.
public struct AuditRead: Hashable, Sendable {
  /// The key of an event's detail that says how many reads it stands for.
  public static let timesKey = "times"
  /// The key of an event's detail that says how many of those reads a ``AuditEvent/Name/readStarted`` announced.
  public static let streamsKey = "streams"

  /// Without ``timesKey``. What differs between the reads that are counted together is summed up, or left out.
  public var event: AuditEvent
  /// The id of the peer that reads.
  public var peer: String
  /// Beside the event's name, what must be equal for two reads to be counted together. Never as the caller likes.
  public var kind: String
  /// When it happened, for deciding what is counted together; the event has the time that is shown.
  public var moment: Moment

  /// - Parameter kind: see ``kind``.
  public init(_ event: AuditEvent, by peer: String, kind: String = "", at moment: Moment) {
    self.event = event
    self.peer = peer
    self.kind = kind
    self.moment = moment
  }

  /// A reading of a monotonic clock.
  public struct Moment: Hashable, Sendable {
    /// A random name of what the clock began with, such as a run of the server.
    public var session: Int64
    /// Milliseconds since the clock began.
    public var elapsed: Int64
    /// Milliseconds in which reads are counted together.
    public var minute: Int64

    /// - Parameter minute: shorter for tests.
    public init(session: Int64, elapsed: Int64, minute: Int64 = 60_000) {
      self.session = session
      self.elapsed = elapsed
      self.minute = minute
    }
  }
}
