import HealthModel

/// The activity rings of one date: how much one moved, exercised and stood.
///
/// ```swift
/// let attributes = ["activeEnergyBurned": "450", "activeEnergyBurnedGoal": "500", "activeEnergyBurnedUnit": "kcal"]
/// let rings = ActivityRings(day: 19_889, ActivitySummary(date: "2024-06-15", attributes: attributes))
/// print(rings.move?.share ?? 0)  // 0.9
/// ```
public struct ActivityRings: Hashable, Sendable {
  /// How far one ring is closed.
  public struct Ring: Hashable, Sendable {
    public var value: Double
    /// More than 0; `nil` where there is none, so that there is no percentage either.
    public var goal: Double?
    public var unit: String

    /// - Parameter goal: of which 0, and what is no number, are none.
    public init(_ value: Double, goal: Double? = nil, unit: String) {
      self.value = value
      self.goal = goal.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
      self.unit = unit
    }

    /// 1 where the goal is reached, more beyond it.
    public var share: Double? { goal.map { value / $0 } }
  }

  /// Days since 1970-01-01 of the date.
  public var day: Int
  /// Active energy, or minutes of movement for whom energy is not counted; `nil` where nothing says it.
  public var move: Ring?
  /// Minutes; `nil` where nothing says it.
  public var exercise: Ring?
  /// Hours in which one stood; `nil` where nothing says it.
  public var stand: Ring?
  /// Whether they were added up from samples, as no activity summary says them.
  public var isComputed: Bool

  /// - Parameter day: days since 1970-01-01.
  public init(day: Int, move: Ring? = nil, exercise: Ring? = nil, stand: Ring? = nil, isComputed: Bool) {
    (self.day, self.move, self.exercise, self.stand) = (day, move, exercise, stand)
    self.isComputed = isComputed
  }

  /// As the summary says, whose date is local and taken as it is.
  ///
  /// Energy is in kilocalories; minutes of movement take its place where its goal is 0.
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
