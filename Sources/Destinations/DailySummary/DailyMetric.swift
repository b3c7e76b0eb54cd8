import HealthAnalysis
import HealthModel

/// A number of a day, as settings write it: `heartRate mean count/min 0`.
struct DailyMetric: Hashable, Sendable {
  enum Aggregate: String, Sendable {
    case sum, mean, min, max
    /// The value of the sample that ends last.
    case last
  }

  let type: SampleType
  let aggregate: Aggregate
  /// The unit; `nil` for the type's own. Percentages are from 0 to 100.
  let unit: String?
  /// The number of decimal places.
  let decimals: Int
  /// Whether the number is omitted on days without a running workout.
  let needsRun: Bool

  /// Parses a metric.
  ///
  /// - Parameter text: the name of a type; then, in any order, an aggregate, a unit, decimal places, `running`.
  /// - Throws: ``Mistake``.
  init(_ text: String) throws(Mistake) {
    var words = text.split(separator: " ").map(String.init)[...]
    guard let name = words.popFirst(), let type = SampleTypeCatalogue.healthKit.type(named: name) else {
      throw Mistake(reason: "names no type that is known")
    }
    let entry = SampleTypeCatalogue.healthKit[type]
    guard entry.map({ $0.aggregation != nil }) ?? true else { throw Mistake(reason: "names a type without numbers") }
    var (aggregate, unit, decimals, needsRun) = (Aggregate?.none, String?.none, 0, false)
    for word in words {
      if let found = Aggregate(rawValue: word) {
        aggregate = found
      } else if let found = Int(word) {
        guard (0...6).contains(found) else { throw Mistake(reason: "has more than 6 decimal places") }
        decimals = found
      } else if word == "running" {
        needsRun = true
      } else {
        unit = word
      }
    }
    if let unit, let own = entry?.canonicalUnit, UnitConversion.convert(1, from: own, to: unit) == nil {
      throw Mistake(reason: "has the unit \(unit), and \(own) is no such thing")
    }
    let isSum = entry?.aggregation == .cumulative
    if isSum, aggregate ?? .sum != .sum { throw Mistake(reason: "has a type that adds up: there is only a sum of it") }
    if !isSum, aggregate == .sum { throw Mistake(reason: "has a type that does not add up") }
    (self.type, self.unit, self.decimals, self.needsRun) = (type, unit, decimals, needsRun)
    self.aggregate = aggregate ?? (isSum ? .sum : .mean)
  }

  /// The error in a metric's text: a verb and what follows.
  struct Mistake: Error { var reason: String }

  /// Returns the rounded value of a bucket, or `nil` if it has none.
  func value(_ number: BucketStatistics.Number, unit: String?) -> JSONValue? {
    let found: Double? =
      switch number {
      case .sum(let sum): sum.sum
      case .discrete(let values):
        switch aggregate {
        case .sum, .mean: values.mean ?? values.meanOfSamples
        case .min: values.minimum
        case .max: values.maximum
        case .last: values.last
        }
      }
    guard let found, found.isFinite else { return nil }
    return Self.rounded(unit == "%" ? found * 100 : found, decimals)
  }

  static func rounded(_ value: Double, _ decimals: Int) -> JSONValue {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let rounded = abs(value) < 1e12 ? (value * scale).rounded() / scale : value
    return Int64(exactly: rounded).map(JSONValue.integer) ?? .number(rounded)
  }
}

/// The numbers of a day by the keys under which they are sent.
struct DailyMetrics: Hashable, Sendable {
  /// The default keys: those in P247's example, and those that its notes name for running and VO2 max. `dietary_energy_kj`
  /// is in kilocalories, as P247 sends it.
  static let usual = [
    "step_count": "stepCount", "active_calories": "activeEnergyBurned kcal", "hrv": "heartRateVariabilitySDNN ms",
    "resting_hr": "restingHeartRate", "protein_g": "dietaryProtein g",
    "dietary_energy_kj": "dietaryEnergyConsumed kcal",
    "vo2_max": "vo2Max last 1", "running_power": "runningPower running", "running_speed": "runningSpeed m/s 2 running",
    "running_stride_length": "runningStrideLength m 2 running",
    "running_vertical_oscillation": "runningVerticalOscillation cm 1 running",
    "running_ground_contact_time": "runningGroundContactTime ms running",
  ]

  let byKey: [String: DailyMetric]

  /// Creates the default metrics with a person's changes.
  ///
  /// - Parameter own: the metrics to add or change; an empty text removes a default metric.
  /// - Throws: ``SettingsError`` for `metrics`.
  init(_ own: [String: String]) throws(SettingsError) {
    var byKey: [String: DailyMetric] = [:]
    for (key, text) in Self.usual.merging(own, uniquingKeysWith: { $1 }) where !text.isEmpty {
      do throws(DailyMetric.Mistake) {
        byKey[key] = try DailyMetric(text)
      } catch {
        throw SettingsError("metrics", .invalid("\(key) = \"\(text)\" \(error.reason)"))
      }
    }
    self.byKey = byKey
  }

  var types: Set<SampleType> { Set(byKey.values.map(\.type)) }
}
