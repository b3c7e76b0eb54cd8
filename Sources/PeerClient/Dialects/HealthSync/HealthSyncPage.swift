import Foundation
import HealthModel
import PeerProtocol

/// Samples of one type and time, newest start first; those that start in one second in an order that tells nothing.
struct HealthSyncPage {
  var samples: [Sample]
  /// Rows that came and could not be understood.
  var unreadable: Int
  /// Rows that came.
  var rows: Int { samples.count + unreadable }
  /// Whether older rows follow.
  var hasMore: Bool

  /// What went wrong on the phone, in its words.
  struct Refusal: Error { var message: String }

  /// Throws ``Refusal``, ``PhoneBody/Excess``, or `DecodingError` for what is no page.
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

/// A sample as the app writes it: a number for whatever it is, and no device, time zone or bundle.
struct HealthSyncSample: Decodable {
  var id: UUID
  var type: String
  var value: Double
  var unit: String
  var startDate: Timestamp
  var endDate: Timestamp
  var sourceName: String
  var metadata: [String: String]?

  /// `nil` for a sample of another type than was asked for, or without what it needs.
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

  /// What is no metadata of HealthKit's, but says what the sample is. Of what another version may add, nothing is dropped.
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

  /// The version that most have collapses all but five kinds to `other`. A name that is none of HealthKit's says as little of
  /// the activity, and is kept.
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
