/// A rate limiter for log entries about callers without a token, so that noise can neither fill the disk nor hide
/// real events. Of each kind it admits ten events, at most one a minute, and then one an hour.
struct EventRateLimiter {
  private struct Kind {
    var left = EventRateLimiter.burst
    var regained: Duration
    var written: Duration?
    var skipped = 0
  }

  static let burst = 10
  private static let spacing = Duration.seconds(60)
  private static let recovery = Duration.seconds(3600)
  /// The maximum number of kinds. Kinds come from this program; the limit is a safeguard in case they ever come from
  /// callers.
  private static let maximumKinds = 32
  private var kinds: [String: Kind] = [:]

  /// Returns the number of events of this kind skipped since the last recorded one if this event should be recorded,
  /// else nil.
  ///
  /// - Parameter now: the time since a fixed instant.
  mutating func admit(_ name: String, at now: Duration) -> Int? {
    let name = kinds[name] != nil || kinds.count < Self.maximumKinds ? name : "other"
    var kind = kinds[name] ?? Kind(regained: now)
    defer { kinds[name] = kind }
    while kind.left < Self.burst, now - kind.regained >= Self.recovery {
      kind.left += 1
      kind.regained += Self.recovery
    }
    let isTooSoon = kind.written.map { now - $0 < Self.spacing } ?? false
    guard !isTooSoon, kind.left > 0 else {
      kind.skipped += 1
      return nil
    }
    // Recovery starts when the first event of a full budget is spent.
    if kind.left == Self.burst { kind.regained = now }
    kind.left -= 1
    kind.written = now
    defer { kind.skipped = 0 }
    return kind.skipped
  }
}
