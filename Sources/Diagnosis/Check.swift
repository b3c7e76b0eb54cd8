/// A diagnostic check for a common problem.
protocol Check: Sendable {
  /// The name of what is checked, for the message that the check took too long.
  var title: String { get }
  /// The prefix of the ids of its findings.
  var id: String { get }
  /// The time limit of the check.
  var limit: Duration { get }

  /// Runs the check. The result is only empty if there is nothing to check. Writes nothing and does not block the
  /// caller's thread.
  func findings() async -> [Finding]
}

extension Check {
  var limit: Duration { .seconds(8) }
}
