import BenchData

/// What every row measures with.
struct Bench: Sendable {
  let sizes: Sizes
  let seed: UInt64
  let identity: HealthHistory.Identity
  let imported: Double
  let program: Program
  let workspace: Workspace
  /// A directory with wheels of other importers, for pip; else it asks the registry.
  let wheels: String?

  var homes: Homes { Homes(self) }
  var exports: Exports { Exports(self) }
}

/// Why a measurement could not be made. One sentence for a person.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
