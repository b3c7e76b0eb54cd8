/// An exponential backoff with jitter: each pause is twice as long as the previous one, with a random part, so that
/// machines that lost the same server do not all return at the same time.
///
/// ```swift
/// var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
/// for _ in 1...3 { print(backOff.next()) }  // 0.5 to 1 s, 1 to 2 s, 2 to 4 s
/// ```
public struct BackOff: Sendable {
  private let first: Duration
  private let longest: Duration
  private var pause: Duration

  /// Creates a backoff.
  ///
  /// - Parameters:
  ///   - first: the maximum of the first pause.
  ///   - longest: the maximum of all pauses.
  public init(first: Duration = .milliseconds(500), longest: Duration = .seconds(30)) {
    self.first = first
    self.longest = longest
    pause = first
  }

  /// Starts again with the first pause. Call it after a successful attempt.
  public mutating func reset() {
    pause = first
  }

  /// Returns the next pause: a random duration from half the current maximum to the maximum, but at least `least`.
  public mutating func next(atLeast least: Duration = .zero) -> Duration {
    defer { pause = min(pause * 2, longest) }
    return max(least, pause * Double.random(in: 0.5...1))
  }
}
