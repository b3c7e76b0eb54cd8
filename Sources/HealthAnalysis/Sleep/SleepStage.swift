/// The value of a sleep sample (`HKCategoryValueSleepAnalysis`), with HealthKit's raw value.
public enum SleepStage: Int, Hashable, Sendable, CaseIterable {
  case inBed = 0
  case asleepUnspecified = 1
  case awake = 2
  case asleepCore = 3
  case asleepDeep = 4
  case asleepREM = 5

  /// Whether this is a sleep stage or awake, rather than only in bed.
  var isLabel: Bool { self != .inBed }

  /// Whether this is a specific kind of sleep.
  var isDetailed: Bool { rawValue >= Self.asleepCore.rawValue }

  /// Whether this is any kind of sleep.
  public var isAsleep: Bool { isDetailed || self == .asleepUnspecified }

  /// The precedence among overlapping stages of a source; the highest wins.
  var precedence: Int {
    switch self {
    case .inBed: 0
    case .asleepUnspecified: 1
    case .asleepCore: 2
    case .asleepREM: 3
    case .asleepDeep: 4
    case .awake: 5
    }
  }
}
