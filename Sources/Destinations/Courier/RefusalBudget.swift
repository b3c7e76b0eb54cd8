/// How long it is looked for what of a batch a place refuses: once the first few changes that were sent alone are all
/// refused, and nothing was taken, it is all of the batch.
struct RefusalBudget {
  /// Changes that are sent alone.
  static let singles = 8

  private var refused = 0
  private var hasTaken = false
  private var last = ""

  /// What was said of the last one; `nil` while it is looked for.
  var reason: String? { refused >= Self.singles && !hasTaken ? last : nil }

  /// Takes note of a part that was not refused as a whole.
  mutating func note(_ delivery: Delivery, of batch: DeliveryBatch) {
    if batch.count > delivery.refused.count { hasTaken = true }
  }

  /// Takes note of a part that cannot be divided any more.
  mutating func noteRefusal(_ reason: String) { (refused, last) = (refused + 1, reason) }
}
