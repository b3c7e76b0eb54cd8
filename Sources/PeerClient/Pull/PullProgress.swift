import HealthStore
import PeerProtocol
import Synchronization

/// The progress of a pull.
public struct PullProgress: Hashable, Sendable {
  /// The number of samples added to the store.
  public var added = 0
  /// The number of tombstones added to the store.
  public var deleted = 0
  /// The number of changes that the store already had, or that one of its tombstones refuses.
  public var unchanged = 0
  /// The number of bytes of answers, inside TLS and HTTP.
  public var bytes = 0
  /// The number of answered requests for changes.
  public var requests = 0
  /// The peer's current name, if it sent one.
  public var peerName: String?
  /// The mark that distinguishes the peer from machines with the same identity, if it sent one.
  public var machine: MachineMark?
  /// The position at the end of a first pull that brought nothing, which is not stored; `nil` for any other pull.
  var unkeptPosition: String?

  /// The number of committed changes.
  public var changes: Int { added + deleted + unchanged }

  /// The number of committed changes that the store did not have before.
  var news: Int { added + deleted }

  /// Creates the progress of a pull that has not begun.
  public init() {}

  mutating func add(_ summary: WriteSummary) {
    added += summary.added
    deleted += summary.deleted
    unchanged += summary.unchanged + summary.refused
  }

  /// Returns the difference to an earlier progress on the same connection.
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

  /// Adds the counts of another connection. The later name and mark replace the earlier ones.
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

/// A flag that tells whether a concurrent operation is still running.
public final class Ongoing: Sendable {
  private let state = Mutex(true)

  init() {}

  public var isUnderWay: Bool { state.withLock(\.self) }

  /// Runs `work`, and clears the flag when it ends.
  func until<Result: Sendable>(_ work: @Sendable () async throws -> Result) async throws -> Result {
    defer { state.withLock { $0 = false } }
    return try await work()
  }
}
