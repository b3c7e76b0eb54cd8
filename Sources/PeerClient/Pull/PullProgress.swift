import HealthStore
import PeerProtocol
import Synchronization

/// How far a pull is.
public struct PullProgress: Hashable, Sendable {
  /// Samples that were not here before.
  public var added = 0
  /// Tombstones that were not here before.
  public var deleted = 0
  /// Changes that were here already, or that a tombstone here refuses.
  public var unchanged = 0
  /// Bytes of answers, inside TLS and HTTP.
  public var bytes = 0
  /// Requests for changes that were answered.
  public var requests = 0
  /// What the peer calls itself by now, if it says so.
  public var peerName: String?
  /// Which machine it is, of those that may have its identity, if it says so.
  public var machine: MachineMark?
  /// Where a first pull ended that brought nothing: no position is kept of it. `nil` of any other.
  var unkeptPosition: String?

  /// Changes that have been committed.
  public var changes: Int { added + deleted + unchanged }

  /// Committed changes that the store did not have before.
  var news: Int { added + deleted }

  /// Nothing has come yet.
  public init() {}

  mutating func add(_ summary: WriteSummary) {
    added += summary.added
    deleted += summary.deleted
    unchanged += summary.unchanged + summary.refused
  }

  /// What has come since `earlier`, of the same connection.
  static func - (later: Self, earlier: Self) -> Self {
    var difference = Self()
    difference.added = later.added - earlier.added
    difference.deleted = later.deleted - earlier.deleted
    difference.unchanged = later.unchanged - earlier.unchanged
    difference.bytes = later.bytes - earlier.bytes
    difference.requests = later.requests - earlier.requests
    difference.peerName = later.peerName
    difference.machine = later.machine
    difference.unkeptPosition = later.unkeptPosition
    return difference
  }

  /// Adds the numbers of another connection; of the names, the later one counts.
  public static func += (sum: inout Self, more: Self) {
    sum.added += more.added
    sum.deleted += more.deleted
    sum.unchanged += more.unchanged
    sum.bytes += more.bytes
    sum.requests += more.requests
    sum.peerName = more.peerName ?? sum.peerName
    sum.machine = more.machine ?? sum.machine
    sum.unkeptPosition = more.unkeptPosition
  }
}

/// Whether something that runs beside is still under way.
public final class Ongoing: Sendable {
  private let state = Mutex(true)

  init() {}

  public var isUnderWay: Bool { state.withLock(\.self) }

  /// Runs `work`, with whose end this ends.
  func until<Result: Sendable>(_ work: @Sendable () async throws -> Result) async throws -> Result {
    defer { state.withLock { $0 = false } }
    return try await work()
  }
}
