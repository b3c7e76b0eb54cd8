/// Decides which of many like events from callers without a token are written down, so that noise can neither fill the
/// disk nor push real events out of sight: of each kind ten, at most one a minute, and after that one an hour for as
/// long as it goes on.
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
  /// Kinds come from this program; the limit holds should one ever come from callers.
  private static let maximumKinds = 32
  private var kinds: [String: Kind] = [:]

  /// The number of events of this kind that went unwritten since the last that was, if this one is to be written.
  ///
  /// - Parameter now: how long it has been since some instant.
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
    // Time regains only what was spent.
    if kind.left == Self.burst { kind.regained = now }
    kind.left -= 1
    kind.written = now
    defer { kind.skipped = 0 }
    return kind.skipped
  }
}
