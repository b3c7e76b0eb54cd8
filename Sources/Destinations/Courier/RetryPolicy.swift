/// When a ``Courier`` tries again, and when it gives up for a while.
public struct RetryPolicy: Hashable, Sendable {
  /// The longest of the first pause; each is twice as long as the one before, a part of it left to chance.
  public var firstPause: Duration
  /// The longest of all pauses.
  public var longestPause: Duration
  /// The longest that a destination's `retryAfter` is obeyed.
  public var longestRetryAfter: Duration
  /// Consecutive failures after which the circuit opens: the courier ends, or rests for ``rest`` where it follows.
  public var tolerance: Int
  /// How long an open circuit stays open before one attempt is made.
  public var rest: Duration

  /// - Parameter tolerance: at least 1.
  public init(
    firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(60),
    longestRetryAfter: Duration = .seconds(3_600), tolerance: Int = 8, rest: Duration = .seconds(900)
  ) {
    self.firstPause = firstPause
    self.longestPause = longestPause
    self.longestRetryAfter = longestRetryAfter
    self.tolerance = max(1, tolerance)
    self.rest = rest
  }
}
