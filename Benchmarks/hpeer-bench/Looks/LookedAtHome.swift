import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// A home with a large store whose statistics are kept.
struct LookedAtHome {
  static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  /// As ``heartRate`` is called on the command line.
  static let name = "heartRate"

  let path: String
  let store: HealthStore
  let rollups: Rollups
  let zone: ZoneRules

  /// - Parameter samples: how many records the export has; `nil` for the large one.
  init(_ bench: Bench, samples: Int? = nil) async throws {
    let file = try await bench.exports.file(of: samples ?? bench.sizes.large)
    path = bench.workspace.fresh("look")
    _ = try await TimedImport(bench, file.path, into: path)
    store = try HealthStore(directory: path, create: false)
    rollups = Rollups(of: store)
    zone = try ZoneRules(named: "Europe/Berlin")
    try await rollups.refresh()
  }

  func days(of type: SampleType) -> StatisticsQuery { StatisticsQuery(type, by: .day, in: zone) }
}

/// How long something takes, in milliseconds.
func milliseconds(_ body: () async throws -> Void) async rethrows -> Double {
  let start = ContinuousClock.now
  try await body()
  return start.duration(to: .now).seconds * 1000
}
