import Foundation
import HealthModel
import PeerProtocol

/// A page of samples of one type and time range, newest start first. Samples that start in the same second are in
/// arbitrary order.
struct HealthSyncPage {
  var samples: [Sample]
  /// The number of rows that could not be decoded.
  var unreadable: Int
  /// The number of rows in the page.
  var rows: Int { samples.count + unreadable }
  /// Whether older rows follow.
  var hasMore: Bool

  /// An error reported by the phone, in its own words.
  struct Refusal: Error { var message: String }

  /// Decodes a page. Throws ``Refusal``, ``PhoneBody/Excess``, or `DecodingError` if the body is not a page.
  init(_ body: [UInt8], type: HealthSyncRequest.AppType) throws {
    let wire = try PhoneBody.decode(Wire.self, body)
    guard wire.status == "ok" else { throw Refusal(message: wire.message ?? wire.status) }
    samples = wire.samples.compactMap { $0.value?.sample(type) }
    unreadable = wire.samples.count - samples.count
    hasMore = wire.hasMore
  }

  private struct Wire: Decodable {
    var status: String
    var samples: [Lenient]
    var message: String?
    var hasMore: Bool
  }

  private struct Lenient: Decodable {
    var value: HealthSyncSample?

    init(from decoder: any Decoder) throws { value = try? HealthSyncSample(from: decoder) }
  }
}

/// A sample in the app's format: a number for every kind of sample, without device, time zone or bundle.
struct HealthSyncSample: Decodable {
  var id: UUID
  var type: String
  var value: Double
  var unit: String
  var startDate: Timestamp
  var endDate: Timestamp
  var sourceName: String
  var metadata: [String: String]?

  /// Returns the sample, or `nil` if it has another type than requested or is incomplete.
  func sample(_ asked: HealthSyncRequest.AppType) -> Sample? {
    guard type == asked.name, value.isFinite else { return nil }
    let payload: Payload
    switch asked.kind {
    case .quantity:
      let converted = asked.unit.flatMap { UnitConversion.convert(value, from: unit, to: $0) }
      payload = .quantity(Quantity(converted ?? value, converted == nil ? unit : asked.unit ?? unit))
    case .category:
      guard let integer = Int64(exactly: value) else { return nil }
      payload = .category(CategoryValue(value: integer))
    case .workout: payload = .workout(workout)
    default: return nil
    }
    return Sample(
      uuid: id, type: asked.type, start: startDate, end: endDate, source: Source(name: sourceName),
      metadata: (metadata ?? [:]).filter { !Self.valueKeys.contains($0.key) }.mapValues(MetadataValue.string),
      payload: payload)
  }

  /// The metadata keys that are not HealthKit's but describe the sample's value. Unknown keys of later versions are
  /// kept.
  private static let valueKeys: Set<String> = [
    "activityType", "durationSeconds", "totalEnergyKilocalories", "totalDistanceMeters", "sleepStage",
  ]

  private var workout: Workout {
    var totals: [String: Quantity] = [:]
    for (key, name, unit) in [
      ("totalEnergyKilocalories", "totalEnergyBurned", "kcal"), ("totalDistanceMeters", "totalDistance", "m"),
    ] {
      if let number = metadata?[key].flatMap({ Double($0) }), number.isFinite { totals[name] = Quantity(number, unit) }
    }
    return Workout(activityType: Self.activity(metadata?["activityType"] ?? "other"), duration: value, totals: totals)
  }

  /// Returns the activity type for the app's name. The common version reports all but five kinds as `other`. Unknown
  /// names are kept, shortened.
  private static func activity(_ name: String) -> WorkoutActivityType {
    guard name != "other", let first = name.first else { return .value(3000) }
    let prefix = "HKWorkoutActivityType"
    let exported = name.hasPrefix(prefix) ? name : prefix + first.uppercased() + name.dropFirst()
    if case .value(let value) = WorkoutActivityType(exported: exported) { return .value(value) }
    return .name(name.shortened(toBytes: longestName))
  }

  private static let longestName = 100
}

struct HealthSyncTypes: Decodable { var enabledTypes: [String] }

struct HealthSyncToken: Decodable {
  var token: String
  var expiresAt: Timestamp?
}
