/// What a sleep sample says (`HKCategoryValueSleepAnalysis`); the raw value is HealthKit's.
public enum SleepStage: Int, Hashable, Sendable, CaseIterable {
  case inBed = 0
  case asleepUnspecified = 1
  case awake = 2
  case asleepCore = 3
  case asleepDeep = 4
  case asleepREM = 5

  /// Whether it is a sleep stage or awake, and not only in bed.
  var isLabel: Bool { self != .inBed }

  /// Whether it tells one kind of sleep from others.
  var isDetailed: Bool { rawValue >= Self.asleepCore.rawValue }

  /// Whether it is a kind of sleep.
  public var isAsleep: Bool { isDetailed || self == .asleepUnspecified }

  /// Where a source says several things of one time, the highest holds.
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
