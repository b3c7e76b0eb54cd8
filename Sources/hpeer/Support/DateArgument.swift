import ArgumentParser
import HealthModel

/// A date that a person types: `2024-06-15` (a whole day), `2024-06-15T10:30`, or either with its offset from UTC. Which
/// instant it means, its zone says: see ``ZoneOptions``.
struct DateArgument: ExpressibleByArgument {
  let bound: DateBound

  init?(argument: String) {
    guard let bound = DateBound(argument) else { return nil }
    self.bound = bound
  }
}
