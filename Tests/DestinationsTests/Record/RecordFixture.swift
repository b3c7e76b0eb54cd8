import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import TestSupport

@testable import Destinations

/// A store in its own folder, and the environment that destinations get for it. Its time zone is chosen so that it is
/// noon now and no test runs past midnight.
struct RecordFixture {
  static let steps = SampleType("HKQuantityTypeIdentifierStepCount")
  static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  static let bodyMass = SampleType("HKQuantityTypeIdentifierBodyMass")
  static let oxygen = SampleType("HKQuantityTypeIdentifierOxygenSaturation")
  static let sleep = SampleType("HKCategoryTypeIdentifierSleepAnalysis")

  let directory: TemporaryDirectory
  let store: HealthStore
  let zone: ZoneRules
  let now = Timestamp(seconds: Timestamp.now.seconds)

  init(zone: ZoneRules? = nil) throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path("home"))
    let time = Int(Timestamp.now.seconds % 86_400)
    self.zone = zone ?? ZoneRules(offset: 43_200 - time, name: "noon")
  }

  var today: Int { zone.dayNumber(at: now.seconds) }

  func reader(_ filter: SampleFilter = .everything, sendsNames: Bool = true) -> RecordReader {
    RecordReader(store, filter: filter, zone: zone, sendsNames: sendsNames)
  }

  func environment(
    _ variables: [String: String] = [:], filter: SampleFilter = .everything
  ) -> DestinationEnvironment {
    DestinationEnvironment(
      record: reader(filter), secrets: SecretStore(environment: variables), stateFolder: directory.path("state"))
  }

  /// - Parameter seconds: The distance of the start before ``now``, in seconds.
  func quantity(
    _ type: SampleType, _ value: Double, _ unit: String, ago seconds: Int64, for length: Int64 = 60,
    source: String = "Watch"
  ) -> Sample {
    Sample(
      uuid: UUID(), type: type, start: Timestamp(seconds: now.seconds - seconds),
      end: Timestamp(seconds: now.seconds - seconds + length), source: Source(name: source),
      payload: .quantity(Quantity(value, unit)))
  }

  func stage(_ stage: SleepStage, hours: ClosedRange<Double>) -> Sample {
    Sample(
      uuid: UUID(), type: Self.sleep, start: Timestamp(seconds: now.seconds - Int64(hours.upperBound * 3600)),
      end: Timestamp(seconds: now.seconds - Int64(hours.lowerBound * 3600)), source: Source(name: "Watch"),
      payload: .category(CategoryValue(value: Int64(stage.rawValue))))
  }

  func add(_ samples: [Sample]) async throws { try await store.apply(ChangeBatch(additions: samples)) }

  func delete(_ samples: [Sample]) async throws {
    try await store.apply(
      ChangeBatch(deletions: samples.map { Tombstone(sample: $0.reference, deleted: .now) }))
  }

  /// Delivers pending changes, with a single attempt for each batch.
  @discardableResult func deliver(
    to destination: some Destination, named name: String = "test", filter: SampleFilter = .everything
  ) async throws -> CourierReport {
    try await Courier(
      to: destination, named: name, from: store, filter: filter, policy: RetryPolicy(tolerance: 1)
    ).run()
  }
}

extension DestinationSettings {
  /// Creates settings from values as a person writes them.
  init(_ values: [String: Value], of kind: any Destination.Type) throws {
    try self.init(name: "home", values, of: kind.description)
  }
}
