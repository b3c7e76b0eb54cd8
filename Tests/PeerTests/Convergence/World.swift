import Foundation
import HealthModel
import TestSupport

/// The few dozen samples of a history, so few that machines often handle the same sample.
struct World: Sendable {
  /// The spellings of each identity. The text of an export's record depends on the display unit; all other samples
  /// have a single spelling.
  let spellings: [[Sample]]
  /// The types that readers request, or `nil` for everything.
  let selections: [Set<SampleType>?]
  /// The starts of scopes, or `nil` for no bound.
  let bounds: [Timestamp?]

  init(seed: UInt64) {
    var maker = SampleMaker(seed: seed)
    var spellings = (0..<10).map { Self.record($0) }
    spellings += maker.samples(14).map { [$0] }
    self.spellings = spellings
    // A request can name only types that look like some.
    let types = spellings.map { $0[0].type }.filter { SampleTypeCatalogue.healthKit.type(named: $0.rawValue) == $0 }
    selections = [nil, nil, [types[0]], Set(types.prefix(12)), Set(types.suffix(1))]
    bounds = [nil, nil, nil, spellings[5][0].start]
  }

  /// Returns an export's record in three display units, as imports over three years would have it.
  private static func record(_ number: Int) -> [Sample] {
    let type = SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning")
    let start = Timestamp(seconds: 1_718_000_000 + Int64(number / 2) * 600)
    let end = Timestamp(seconds: start.seconds + 60)
    let uuid = SampleIdentity.uuid(
      kind: "quantity", type: type, source: "iPhone", start: start, end: end, created: end, ordinal: number % 2)
    return [("km", 1), ("mi", 1 / 1.609344), ("m", 1000)].map { unit, scale in
      Sample(
        uuid: uuid, type: type, start: start, end: end, created: end, source: Source(name: "iPhone"),
        metadata: ["HKTimeZone": .string(unit == "mi" ? "America/Denver" : "Europe/Berlin")],
        payload: .quantity(Quantity((0.25 + Double(number)) * scale, unit)))
    }
  }

  /// Returns a reading of a day's activity rings.
  static func summary(day: Int, value: Int, readAt seconds: Int64) -> Sample {
    let start = Timestamp(seconds: 1_718_000_000 + Int64(day) * 86_400)
    var sample = Sample(
      uuid: UUID(), type: .activitySummary, start: start, end: Timestamp(seconds: start.seconds + 86_400),
      created: Timestamp(seconds: seconds), source: Source(name: "Health"),
      payload: .activitySummary(
        ActivitySummary(date: "2024-06-\(10 + day)", attributes: ["activeEnergyBurned": "\(value)"])))
    sample.uuid = SampleIdentity.uuid(ofReading: sample)
    return sample
  }
}
