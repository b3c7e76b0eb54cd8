import Foundation
import HealthModel
import HealthStore

/// A value that an app reported for a period, in HealthKit's unit.
struct AppReading: Hashable, Sendable {
  /// Microseconds since 1970.
  var start: Int64
  /// Microseconds since 1970, always after ``start``, even for an instant.
  var end: Int64
  /// The sum or mean of the period.
  var value: Double
  /// The minimum and maximum, if the reading contains them in addition to a mean.
  var extremes: ClosedRange<Double>?
  /// The name of the source, with the app's name if it is known.
  var source: String

  var length: Int64 { end - start }

  /// Returns whether the first reading precedes the second: shorter readings first because they are more precise,
  /// then in a fixed order.
  static func precedes(_ one: AppReading, _ other: AppReading) -> Bool {
    let (first, second) = (one.extremes ?? 0...0, other.extremes ?? 0...0)
    return (one.length, one.start, one.source, one.value, first.lowerBound, first.upperBound)
      < (other.length, other.start, other.source, other.value, second.lowerBound, second.upperBound)
  }

  /// Creates a reading, or returns `nil` if it has no value for the type.
  ///
  /// - Parameters:
  ///   - reading: the type of the reading.
  ///   - type: the HealthKit type.
  init?(_ stored: NumberReader.Reading, _ reading: SampleType, of type: SampleType) {
    guard stored.start < .max else { return nil }
    if let content = stored.content {
      guard let members = Self.members(of: content) else { return nil }
      guard let mean = AppReadings.value(of: members, reading, for: type) else { return nil }
      value = mean
      if let low = AppReadings.number("Min", of: members, reading, for: type),
        let high = AppReadings.number("Max", of: members, reading, for: type), low <= mean, mean <= high
      {
        extremes = low...high
      }
    } else {
      guard AppReadings.member(of: reading, for: type) == nil, let found = stored.value,
        let converted = AppReadings.value(found, stored.unit, of: reading, for: type)
      else { return nil }
      value = converted
    }
    guard value.isFinite else { return nil }
    start = stored.start
    end = max(stored.end, stored.start + 1)
    let app = Self.apps.first { reading.rawValue.hasPrefix($0.prefix) }?.name
    source = app.map { $0 == stored.source ? $0 : "\(stored.source) (\($0))" } ?? stored.source
  }

  /// Returns the members of a JSON object, or `nil` for any other or missing text.
  static func members(of json: String?) -> [String: JSONValue]? {
    guard let json, case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(json.utf8)) else {
      return nil
    }
    return members
  }

  private static let apps: [(prefix: String, name: String)] = [
    ("hae.", "Health Auto Export"), ("healthpush.", "HealthPush"), ("p247.", "P247"),
  ]
}
