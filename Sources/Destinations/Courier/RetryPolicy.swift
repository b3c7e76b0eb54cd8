import HealthModel

/// The rules for when a ``Courier`` retries, and when it gives up for a while.
public struct RetryPolicy: Hashable, Sendable {
  /// The upper limit of the first pause. The limit doubles with each further pause, and each pause is partly random.
  public var firstPause: Duration
  /// The upper limit of any pause.
  public var longestPause: Duration
  /// The longest `retryAfter` of a destination that is respected; longer values are cut to this.
  public var longestRetryAfter: Duration
  /// The number of consecutive failures that opens the circuit: the courier ends, or rests if it follows.
  public var tolerance: Int
  /// The time for which an open circuit waits before the next attempt.
  public var rest: Duration

  /// Creates a policy.
  ///
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

/// The limit on the search for the refused changes of a batch. If nothing was accepted and the first few changes of a
/// type that were sent alone were all refused, that whole type counts as refused.
struct RefusalBudget {
  /// The number of changes of a type that are sent alone.
  static let singles = 8

  private struct Refusals {
    var count = 0
    /// The reason given for the last refusal.
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

  /// Records a part that was not refused as a whole.
  mutating func note(_ delivery: Delivery, of batch: DeliveryBatch) {
    if batch.count > delivery.refused.count { hasTaken = true }
  }

  /// Records a refused part that cannot be divided any more.
  mutating func noteRefusal(_ reason: String, of batch: DeliveryBatch) {
    for change in batch.refused(reason) {
      let count = refusals[change.sample.type]?.count ?? 0
      refusals[change.sample.type] = Refusals(count: count + 1, reason: reason)
    }
  }
}
