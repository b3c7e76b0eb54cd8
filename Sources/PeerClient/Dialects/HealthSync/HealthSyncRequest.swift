import Foundation
import HealthModel

/// The requests that the app answers. Those that end it cannot be made: stand hours, a huge offset; nor those whose answers
/// lose rows: the stages of sleep one by one.
struct HealthSyncRequest: Hashable {
  /// A type that the app may be asked for.
  struct AppType: PhoneType, Hashable, Comparable {
    /// As the app calls it.
    let name: String
    let type: SampleType
    let kind: SampleTypeCatalogue.Kind
    /// The unit that values are kept in, where that is another than the app's.
    let unit: String?

    /// `nil` for what must not be asked for, and for what this version does not know.
    init?(_ name: String) {
      guard !Self.forbidden.contains(name), let entry = Self.entry(named: name) else { return nil }
      (self.name, type, kind) = (name, entry.type, entry.kind)
      // Seconds here, milliseconds in exports.
      unit = name == "heartRateVariability" ? entry.canonicalUnit : nil
    }

    /// Stand time, which it reads in a unit that it does not have, and ends; and parts of `sleepAnalysis`, of which it
    /// loses rows.
    static let forbidden: Set<String> = [
      "standHours", "appleStandTime", "appleStandHour", "sleepInBed", "sleepAsleep", "sleepAwake", "sleepREM",
      "sleepCore", "sleepDeep",
    ]

    private static func entry(named name: String) -> SampleTypeCatalogue.Entry? {
      let catalogue = SampleTypeCatalogue.healthKit
      guard let type = catalogue.type(named: names[name] ?? name), let entry = catalogue[type],
        entry.shortName == names[name] ?? name
      else { return nil }
      // Of its other versions, the quantities are called as HealthKit's are, and the rest cannot be foreseen.
      return entry.kind == .quantity || names[name] != nil ? entry : nil
    }

    /// What the app calls otherwise than HealthKit, and what is no quantity.
    private static let names = [
      "steps": "stepCount", "exerciseTime": "appleExerciseTime", "heartRateVariability": "heartRateVariabilitySDNN",
      "bloodOxygen": "oxygenSaturation", "weight": "bodyMass", "sleepAnalysis": "sleepAnalysis", "workouts": "workout",
    ]

    static func < (first: Self, second: Self) -> Bool { first.name < second.name }
  }

  /// The most that the app sends in one answer.
  static let mostRows = 10_000
  /// More rows than one second has, and far from where the app's sums overflow.
  static let mostOffset = 1_000_000
  /// Seconds since 1970 between which all samples start: from 1900 up to 2200.
  static let allTime: Range<Int64> = -2_208_988_800..<7_258_118_400

  let request: AppRequest

  private init(_ request: AppRequest) { self.request = request }

  static func types(token: String) -> Self { Self(AppRequest(.get, "/api/v1/health/types", token: token)) }

  /// Samples of one type that start within `seconds`, newest first.
  static func data(
    _ type: AppType, _ seconds: Range<Int64>, offset: Int = 0, limit: Int = mostRows, token: String
  ) -> Self {
    let range = seconds.clamped(to: allTime)
    let (offset, limit) = (min(max(offset, 0), mostOffset), min(max(limit, 1), mostRows))
    // Written out: the names are letters and digits, and there is one order of members less to wonder about.
    let body =
      #"{"startDate":"\#(Timestamp(seconds: range.lowerBound).iso8601)","#
      + #""endDate":"\#(Timestamp(seconds: range.upperBound).iso8601)","types":["\#(type.name)"],"#
      + #""limit":\#(limit),"offset":\#(offset)}"#
    return Self(AppRequest(.post, "/api/v1/health/data", token: token, json: Array(body.utf8)))
  }

  /// Whether this version of the app has routes of workouts: of a time in which there are none.
  static func routes(token: String) -> Self {
    let body = #"{"startDate":"1990-01-01T00:00:00Z","endDate":"1990-01-01T00:00:01Z"}"#
    return Self(AppRequest(.post, "/api/v1/health/routes", token: token, json: Array(body.utf8)))
  }

  static func pair(code: String, clientName: String) throws -> Self {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let body = try encoder.encode(["code": code, "clientName": String(clientName.prefix(64))])
    return Self(AppRequest(.post, "/api/v1/pair", json: Array(body)))
  }
}
