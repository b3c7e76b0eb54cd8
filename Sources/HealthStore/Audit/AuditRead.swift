/// A read by a peer, which is recorded before anything is sent.
///
/// The first read of a minute is an event of its own. Later reads of the same kind in that minute are only counted,
/// so that a peer with endless requests cannot fill the disk; see ``HealthStore/Audit/record(_:at:read:)``.
public struct AuditRead: Hashable, Sendable {
  /// The key in an event's details for the number of reads that the event stands for.
  public static let timesKey = "times"
  /// The key in an event's details for the number of those reads that a ``AuditEvent/Name/readStarted`` announced.
  public static let streamsKey = "streams"

  /// The event, without ``timesKey``. Details that differ between reads that are counted together are joined or left
  /// out.
  public var event: AuditEvent
  /// The id of the peer.
  public var peer: String
  /// The part of the kind besides the event's name. Reads of equal kind are counted together. Must not be controlled
  /// by the peer.
  public var kind: String
  /// The time of the read on a monotonic clock, which decides what is counted together. The event has the displayed
  /// time.
  public var moment: Moment

  /// Creates a read. For `kind`, see ``kind``.
  public init(_ event: AuditEvent, by peer: String, kind: String = "", at moment: Moment) {
    self.event = event
    self.peer = peer
    self.kind = kind
    self.moment = moment
  }

  /// A time on a monotonic clock.
  public struct Moment: Hashable, Sendable {
    /// A random identifier of the clock's start, such as a run of the server.
    public var session: Int64
    /// The number of milliseconds since the clock started.
    public var elapsed: Int64
    /// The interval in which reads are counted together, in milliseconds.
    public var minute: Int64

    /// Creates a moment. `minute` is shorter in tests.
    public init(session: Int64, elapsed: Int64, minute: Int64 = 60_000) {
      self.session = session
      self.elapsed = elapsed
      self.minute = minute
    }
  }
}
