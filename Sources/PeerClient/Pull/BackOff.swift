/// Pauses between attempts that fail: each twice as long as the one before, and a part of it left to chance, so that
/// machines that lost the same server do not all come back at the same instant.
struct BackOff: Sendable {
  private let first: Duration
  private let longest: Duration
  private var pause: Duration

  init(first: Duration = .milliseconds(500), longest: Duration = .seconds(30)) {
    self.first = first
    self.longest = longest
    pause = first
  }

  mutating func reset() {
    pause = first
  }

  /// From half of what it is this time to all of it; never less than `least`.
  mutating func next(atLeast least: Duration = .zero) -> Duration {
    defer { pause = min(pause * 2, longest) }
    return max(least, pause * Double.random(in: 0.5...1))
  }
}
