import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// A home with a large store whose statistics are up to date.
struct LookedAtHome {
  static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  /// The name of ``heartRate`` on the command line.
  static let name = "heartRate"

  let path: String
  let store: HealthStore
  let rollups: Rollups
  let zone: ZoneRules

  /// - Parameter samples: The number of records in the export, or `nil` for the large export.
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

/// Returns the duration of `body`, in milliseconds.
func milliseconds(_ body: () async throws -> Void) async rethrows -> Double {
  let start = ContinuousClock.now
  try await body()
  return start.duration(to: .now).seconds * 1000
}
