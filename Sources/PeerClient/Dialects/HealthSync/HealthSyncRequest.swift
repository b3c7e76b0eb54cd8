import Foundation
import HealthModel

/// A request to the app. Requests that crash the app, for stand hours or with a huge offset, cannot be created, nor
/// can requests whose answers lose rows, for single sleep stages.
struct HealthSyncRequest: Hashable {
  /// A type that the app can be asked for.
  struct AppType: PhoneType, Hashable, Comparable {
    /// The app's name of the type.
    let name: String
    let type: SampleType
    let kind: SampleTypeCatalogue.Kind
    /// The unit in which values are stored, if it differs from the app's.
    let unit: String?

    /// Creates a type, or returns `nil` for a forbidden or unknown type.
    init?(_ name: String) {
      guard !Self.forbidden.contains(name), let entry = Self.entry(named: name) else { return nil }
      (self.name, type, kind) = (name, entry.type, entry.kind)
      // The app uses seconds, Apple's exports use milliseconds.
      unit = name == "heartRateVariability" ? entry.canonicalUnit : nil
    }

    /// The types that must not be requested: stand time, which the app reads in an incompatible unit and crashes, and
    /// parts of `sleepAnalysis`, of which it loses rows.
    static let forbidden: Set<String> = [
      "standHours", "appleStandTime", "appleStandHour", "sleepInBed", "sleepAsleep", "sleepAwake", "sleepREM",
      "sleepCore", "sleepDeep",
    ]

    private static func entry(named name: String) -> SampleTypeCatalogue.Entry? {
      let catalogue = SampleTypeCatalogue.healthKit
      guard let type = catalogue.type(named: names[name] ?? name), let entry = catalogue[type],
        entry.shortName == names[name] ?? name
      else { return nil }
      // Other versions of the app name quantities like HealthKit; their names of other types cannot be predicted.
      return entry.kind == .quantity || names[name] != nil ? entry : nil
    }

    /// The HealthKit names of types that the app names differently, and of types other than quantities.
    private static let names = [
      "steps": "stepCount", "exerciseTime": "appleExerciseTime", "heartRateVariability": "heartRateVariabilitySDNN",
      "bloodOxygen": "oxygenSaturation", "weight": "bodyMass", "sleepAnalysis": "sleepAnalysis", "workouts": "workout",
    ]

    static func < (first: Self, second: Self) -> Bool { first.name < second.name }
  }

  /// The maximum number of rows that the app sends in one answer.
  static let mostRows = 10_000
  /// The maximum offset: more rows than one second has, and far from an integer overflow in the app.
  static let mostOffset = 1_000_000
  /// The range in which all samples start, in seconds since 1970: from 1900 up to 2200.
  static let allTime: Range<Int64> = -2_208_988_800..<7_258_118_400

  let request: AppRequest

  private init(_ request: AppRequest) { self.request = request }

  static func types(token: String) -> Self { Self(AppRequest(.get, "/api/v1/health/types", token: token)) }

  /// Returns the request for samples of one type that start within `seconds`, newest first.
  static func data(
    _ type: AppType, _ seconds: Range<Int64>, offset: Int = 0, limit: Int = mostRows, token: String
  ) -> Self {
    let range = seconds.clamped(to: allTime)
    let (offset, limit) = (min(max(offset, 0), mostOffset), min(max(limit, 1), mostRows))
    // Written by hand because the names are letters and digits, and the order of members stays fixed.
    let body =
      #"{"startDate":"\#(Timestamp(seconds: range.lowerBound).iso8601)","#
      + #""endDate":"\#(Timestamp(seconds: range.upperBound).iso8601)","types":["\#(type.name)"],"#
      + #""limit":\#(limit),"offset":\#(offset)}"#
    return Self(AppRequest(.post, "/api/v1/health/data", token: token, json: Array(body.utf8)))
  }

  /// Returns a request that shows whether this version of the app has workout routes. Its time range contains none.
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
