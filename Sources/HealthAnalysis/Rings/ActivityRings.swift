import HealthModel

/// The activity rings of a date: move, exercise and stand.
///
/// ```swift
/// let attributes = ["activeEnergyBurned": "450", "activeEnergyBurnedGoal": "500", "activeEnergyBurnedUnit": "kcal"]
/// let rings = ActivityRings(day: 19_889, ActivitySummary(date: "2024-06-15", attributes: attributes))
/// print(rings.move?.share ?? 0)  // 0.9
/// ```
public struct ActivityRings: Hashable, Sendable {
  /// The progress of a ring.
  public struct Ring: Hashable, Sendable {
    public var value: Double
    /// The goal, greater than 0, or `nil` if there is none and hence no percentage.
    public var goal: Double?
    public var unit: String

    /// Creates a ring.
    ///
    /// - Parameter goal: ignored if it is not a finite number greater than 0.
    public init(_ value: Double, goal: Double? = nil, unit: String) {
      self.value = value
      self.goal = goal.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
      self.unit = unit
    }

    /// The value divided by the goal: 1 when the goal is reached, more beyond it.
    public var share: Double? { goal.map { value / $0 } }
  }

  /// The date, in days since 1970-01-01.
  public var day: Int
  /// The active energy, or the minutes of movement if energy is not tracked; `nil` if there is no data.
  public var move: Ring?
  /// The minutes of exercise, or `nil` if there is no data.
  public var exercise: Ring?
  /// The hours with standing, or `nil` if there is no data.
  public var stand: Ring?
  /// Whether the rings were computed from samples because there is no activity summary.
  public var isComputed: Bool

  /// Creates rings.
  ///
  /// - Parameter day: days since 1970-01-01.
  public init(day: Int, move: Ring? = nil, exercise: Ring? = nil, stand: Ring? = nil, isComputed: Bool) {
    (self.day, self.move, self.exercise, self.stand) = (day, move, exercise, stand)
    self.isComputed = isComputed
  }

  /// Creates rings from an activity summary, whose local date is used unchanged.
  ///
  /// Energy is converted to kilocalories. Minutes of movement are used instead if the energy goal is 0.
  public init(day: Int, _ summary: ActivitySummary) {
    func number(_ name: String) -> Double? {
      summary.attributes[name].flatMap(Double.init).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }
    func ring(_ name: String, _ unit: String) -> Ring? {
      number(name).map { Ring($0, goal: number(name + "Goal"), unit: unit) }
    }
    let unit = summary.attributes["activeEnergyBurnedUnit"] ?? "kcal"
    func energy(_ name: String) -> Double? {
      number(name).flatMap { UnitConversion.convert($0, from: unit, to: "kcal") }
    }
    let burned = energy("activeEnergyBurned").map {
      Ring($0, goal: energy("activeEnergyBurnedGoal"), unit: "kcal")
    }
    let moved = ring("appleMoveTime", "min")
    self.init(
      day: day, move: burned?.goal == nil && moved?.goal != nil ? moved : burned ?? moved,
      exercise: ring("appleExerciseTime", "min"), stand: ring("appleStandHours", "h"), isComputed: false)
  }
}
