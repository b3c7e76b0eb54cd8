/// Pauses between attempts that fail: each twice as long as the one before, and a part of it left to chance, so that
/// machines that lost the same server do not all come back at the same instant.
///
/// ```swift
/// var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
/// for _ in 1...3 { print(backOff.next()) }  // 0.5 to 1 s, 1 to 2 s, 2 to 4 s
/// ```
public struct BackOff: Sendable {
  private let first: Duration
  private let longest: Duration
  private var pause: Duration

  /// - Parameters:
  ///   - first: maximum of the first pause.
  ///   - longest: maximum of all pauses.
  public init(first: Duration = .milliseconds(500), longest: Duration = .seconds(30)) {
    self.first = first
    self.longest = longest
    pause = first
  }

  /// To be called when an attempt has succeeded: the next pause is a first one again.
  public mutating func reset() {
    pause = first
  }

  /// From half of what it is this time to all of it; never less than `least`.
  public mutating func next(atLeast least: Duration = .zero) -> Duration {
    defer { pause = min(pause * 2, longest) }
    return max(least, pause * Double.random(in: 0.5...1))
  }
}
