import BenchData

/// The environment in which all benchmarks run.
struct Bench: Sendable {
  let sizes: Sizes
  let seed: UInt64
  let identity: HealthHistory.Identity
  let imported: Double
  let program: Program
  let workspace: Workspace
  /// A directory with wheels of other importers for pip, or `nil` to use the registry.
  let wheels: String?

  var homes: Homes { Homes(self) }
  var exports: Exports { Exports(self) }
}

/// An error for a measurement that failed, described in a sentence.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
