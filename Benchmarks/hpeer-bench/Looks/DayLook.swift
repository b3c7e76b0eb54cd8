import HealthAnalysis
import HealthModel

/// A benchmark of a query for every numeric type on a day in the middle of the record.
struct DayLook {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let home = try await LookedAtHome(bench)
    defer { bench.workspace.remove(home.path) }
    let types = try await home.store.samples.typeCounts().map(\.type)
      .filter { SampleTypeCatalogue.healthKit[$0]?.aggregation != nil }
    guard let starts = try await home.store.samples.extent(of: LookedAtHome.heartRate) else {
      throw BenchFailure("The made-up record has no heart rates.")
    }
    let middle = starts.lowerBound.seconds / 2 + starts.upperBound.seconds / 2
    let day = home.zone.day(home.zone.dayNumber(at: middle))
    var (times, numbers): ([Double], Int) = ([], 0)
    for _ in 0..<bench.sizes.shortRepeats {
      numbers = 0
      times.append(
        try await milliseconds {
          for type in types {
            var query = home.days(of: type)
            query.start = Timestamp(seconds: day.lowerBound)
            query.end = Timestamp(seconds: day.upperBound)
            numbers += try await home.rollups.statistics(query).values.count
          }
        })
    }
    var row = Row(.day)
    row.add("types", Double(types.count), .count)
    row.add("types with a number on that day", Double(numbers), .count)
    row.add("all types of the day", medianOf: times, .milliseconds, goal: .atMost(20))
    return row
  }
}
