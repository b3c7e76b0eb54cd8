/// One thing that usually goes wrong, and how to find out whether it did.
protocol Check: Sendable {
  /// What is looked at, for a person, when the look takes too long.
  var title: String { get }
  /// The beginning of the ids of its findings.
  var id: String { get }
  /// Maximum time that the check may take.
  var limit: Duration { get }

  /// Empty only where there is nothing to be looked at. Writes nothing, and does not block the caller's thread.
  func findings() async -> [Finding]
}

extension Check {
  var limit: Duration { .seconds(8) }
}
