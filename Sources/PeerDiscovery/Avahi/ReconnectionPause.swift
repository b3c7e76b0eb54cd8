/// A backoff for reconnecting to avahi-daemon: 1 s at first, doubled each time, 10 s at most.
struct ReconnectionPause {
  static let first = Duration.seconds(1)
  /// The longest pause, for which a machine may stay invisible after its daemon has returned. An attempt costs
  /// little.
  static let longest = Duration.seconds(10)
  /// The minimum duration of a connection whose end counts as a new failure.
  private static let good = Duration.seconds(5)

  private var pause = first

  /// Returns the next pause.
  /// - Parameter lasted: the duration of the previous connection.
  mutating func next(after lasted: Duration) -> Duration {
    if lasted >= Self.good { pause = Self.first }
    defer { pause = min(pause * 2, Self.longest) }
    return pause
  }
}
