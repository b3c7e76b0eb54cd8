import Foundation
import HealthModel

extension HealthSampleDTO: Decodable {
  private enum WireKey: String, CodingKey {
    case id, type, startDate, endDate, sourceName, sourceBundleIdentifier, value, unit, categoryValue
    case workoutActivityType, workoutDuration, workoutTotalEnergyBurned, workoutTotalDistance, correlationValues
    case metadataJSON
  }

  /// The accepted range of seconds since 2001, about ten thousand years in either direction.
  private static let referenceRange = -300_000_000_000.0...300_000_000_000.0

  /// Decodes the app's JSON: dates as ISO 8601 text or as seconds since 2001, with missing, `null` or unknown
  /// members. Members required by the type are not checked here: without them ``sample`` is `nil`.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: WireKey.self)
    let (start, isNumber) = try Self.instant(object, .startDate)
    self.init(
      id: try object.decode(String.self, forKey: .id), type: try object.decode(String.self, forKey: .type),
      start: start, end: try Self.instant(object, .endDate).0,
      sourceName: try object.decode(String.self, forKey: .sourceName), dates: isNumber ? .reference : .iso8601)
    sourceBundleIdentifier = try object.decodeIfPresent(String.self, forKey: .sourceBundleIdentifier)
    value = try object.decodeIfPresent(Double.self, forKey: .value)
    unit = try object.decodeIfPresent(String.self, forKey: .unit)
    categoryValue = try object.decodeIfPresent(Int64.self, forKey: .categoryValue)
    workoutActivityType = try object.decodeIfPresent(UInt.self, forKey: .workoutActivityType)
    workoutDuration = try object.decodeIfPresent(Double.self, forKey: .workoutDuration)
    workoutTotalEnergyBurned = try object.decodeIfPresent(Double.self, forKey: .workoutTotalEnergyBurned)
    workoutTotalDistance = try object.decodeIfPresent(Double.self, forKey: .workoutTotalDistance)
    correlationValues = try object.decodeIfPresent([String: Double].self, forKey: .correlationValues)
    metadataJSON = try object.decodeIfPresent(String.self, forKey: .metadataJSON)
  }

  private static func instant(
    _ object: KeyedDecodingContainer<WireKey>, _ key: WireKey
  ) throws -> (Timestamp, isNumber: Bool) {
    if let text = try? object.decode(String.self, forKey: key) {
      if let instant = Timestamp(iso8601: text) { return (instant, false) }
    } else if let seconds = try? object.decode(Double.self, forKey: key), referenceRange.contains(seconds) {
      let microseconds = ((seconds + 978_307_200) * 1_000_000).rounded()
      return (Timestamp(microseconds: Int64(microseconds)), true)
    }
    throw DecodingError.dataCorruptedError(forKey: key, in: object, debugDescription: "no instant")
  }
}
