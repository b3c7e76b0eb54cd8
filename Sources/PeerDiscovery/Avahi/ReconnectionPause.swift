/// How long to wait before avahi-daemon is connected to again: 1 s at first, then twice as long each time, 10 s at most.
struct ReconnectionPause {
  static let first = Duration.seconds(1)
  /// For so long a machine may be invisible after its daemon has come back. An attempt costs next to nothing.
  static let longest = Duration.seconds(10)
  /// A connection that was there for so long ended for a new reason.
  private static let good = Duration.seconds(5)

  private var pause = first

  /// - Parameter lasted: how long the connection before was there.
  mutating func next(after lasted: Duration) -> Duration {
    if lasted >= Self.good { pause = Self.first }
    defer { pause = min(pause * 2, Self.longest) }
    return pause
  }
}
