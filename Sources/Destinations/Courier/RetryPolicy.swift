import HealthModel

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

/// How long it is looked for what of a batch a place refuses: once the first few changes of a type that were sent alone are all
/// refused, and nothing was taken, it is all of that type. Others may still be taken.
struct RefusalBudget {
  /// Changes of a type that are sent alone.
  static let singles = 8

  private struct Refusals {
    var count = 0
    /// The reason given for the last one.
    var reason = ""
  }

  private var refusals: [SampleType: Refusals] = [:]
  private var hasTaken = false

  /// Splits a batch into the changes still to be sent and those that count as refused without being sent.
  func divided(_ batch: DeliveryBatch) -> (open: DeliveryBatch, refused: [RefusedSample]) {
    var (open, refused): (DeliveryBatch, [RefusedSample]) = (batch, [])
    if hasTaken { return (open, refused) }
    for (type, found) in refusals where found.count >= Self.singles {
      let parts = open.parts(of: type)
      refused += parts.these.refused(found.reason)
      open = parts.others
    }
    return (open, refused)
  }

  /// Takes note of a part that was not refused as a whole.
  mutating func note(_ delivery: Delivery, of batch: DeliveryBatch) {
    if batch.count > delivery.refused.count { hasTaken = true }
  }

  /// Takes note of a part that cannot be divided any more.
  mutating func noteRefusal(_ reason: String, of batch: DeliveryBatch) {
    for change in batch.refused(reason) {
      let count = refusals[change.sample.type]?.count ?? 0
      refusals[change.sample.type] = Refusals(count: count + 1, reason: reason)
    }
  }
}
