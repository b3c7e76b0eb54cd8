import HealthModel

/// When somebody moved during a workout: from its start to its end, less its pauses.
struct ActiveIntervals {
  typealias Reading = (start: Int64, end: Int64, value: Double)

  /// In microseconds, ascending and apart from each other.
  let intervals: [Range<Int64>]

  /// One time without a pause.
  init(_ range: Range<Int64>) {
    intervals = [range]
  }

  /// - Parameter sample: of the workout, in whose time events count.
  init(_ workout: Workout, of sample: Sample) {
    let (start, end) = (sample.start.microseconds, sample.end.microseconds)
    guard start < end else {
      intervals = []
      return
    }
    var intervals: [Range<Int64>] = []
    // Whoever has stopped and pressed the button as well moves again after both.
    var (byHand, byMotion) = (false, false)
    var begin: Int64? = start
    for change in Self.changes(workout.events) {
      let time = min(max(change.time, start), end)
      if change.isByMotion { byMotion = change.isPause } else { byHand = change.isPause }
      if byHand || byMotion {
        if let moved = begin, moved < time { intervals.append(moved..<time) }
        begin = nil
      } else {
        begin = begin ?? time
      }
    }
    if let moved = begin, moved < end { intervals.append(moved..<end) }
    self.intervals = intervals
  }

  var seconds: Double { intervals.reduce(0) { $0 + Double($1.upperBound) - Double($1.lowerBound) } / 1_000_000 }

  private struct Change {
    var time: Int64
    var isPause: Bool
    var isByMotion: Bool
  }

  /// In their order. A pause that says how long it was ends by itself.
  private static func changes(_ events: [WorkoutEvent]) -> [Change] {
    var changes: [Change] = []
    for event in events {
      let time = event.date.microseconds
      switch event.type {
      case "HKWorkoutEventTypePause", "HKWorkoutEventTypeMotionPaused":
        let isByMotion = event.type == "HKWorkoutEventTypeMotionPaused"
        changes.append(Change(time: time, isPause: true, isByMotion: isByMotion))
        if let duration = event.duration, (1..<1e9).contains(duration) {
          let end = time.addingReportingOverflow(Int64(duration * 1_000_000))
          changes.append(Change(time: end.overflow ? .max : end.partialValue, isPause: false, isByMotion: isByMotion))
        }
      case "HKWorkoutEventTypeResume": changes.append(Change(time: time, isPause: false, isByMotion: false))
      case "HKWorkoutEventTypeMotionResumed": changes.append(Change(time: time, isPause: false, isByMotion: true))
      default: continue
      }
    }
    return changes.sorted { $0.time < $1.time }
  }

  /// How long each value held while somebody moved. A value lasts until the next one, but no longer than 300 s after its own end.
  ///
  /// - Parameter readings: in order of their starts.
  func stretches(of readings: [Reading]) -> [(value: Double, seconds: Double)] {
    var stretches: [(value: Double, seconds: Double)] = []
    var lasting = LastingValues()
    // Both are in order.
    var rest = intervals[...]
    func count(_ stretch: LastingValues.Stretch?) {
      guard let stretch else { return }
      while let interval = rest.first, interval.upperBound <= stretch.start { rest.removeFirst() }
      for interval in rest {
        let (start, end) = (max(stretch.start, interval.lowerBound), min(stretch.end, interval.upperBound))
        guard start < end else { break }
        stretches.append((stretch.value, (Double(end) - Double(start)) / 1_000_000))
      }
    }
    for reading in readings { count(lasting.add(start: reading.start, end: reading.end, value: reading.value)) }
    count(lasting.finish())
    return stretches
  }

  /// Whether a reading was taken while somebody moved.
  func contain(_ reading: Reading) -> Bool {
    // The first that ends after it begins.
    var (low, high) = (0, intervals.count)
    while low < high {
      let middle = (low + high) / 2
      if intervals[middle].upperBound > reading.start { high = middle } else { low = middle + 1 }
    }
    return low < intervals.count && intervals[low].lowerBound <= max(reading.start, reading.end)
  }
}

/// How fast the heart beat during a workout, in beats a minute.
public struct WorkoutHeartRate: Hashable, Sendable {
  /// Over the time in which somebody moved.
  public var mean: Double
  public var minimum: Double?
  public var maximum: Double?

  init(mean: Double, minimum: Double? = nil, maximum: Double? = nil) {
    (self.mean, self.minimum, self.maximum) = (mean, minimum, maximum)
  }

  /// What the workout itself says; `nil` where it says nothing.
  init?(_ workout: Workout) {
    let type = SampleType("HKQuantityTypeIdentifierHeartRate")
    guard let own = workout.statistics.first(where: { $0.type == type && $0.average != nil }), let unit = own.unit,
      let mean = Self.rate(own.average, unit)
    else { return nil }
    self.init(mean: mean, minimum: Self.rate(own.minimum, unit), maximum: Self.rate(own.maximum, unit))
  }

  private static func rate(_ number: Double?, _ unit: String) -> Double? {
    number.flatMap { UnitConversion.convert($0, from: unit, to: "count/min") }.flatMap {
      $0 > 0 && $0.isFinite ? $0 : nil
    }
  }

  /// What readings say; `nil` where none was taken while somebody moved.
  init?(_ readings: [ActiveIntervals.Reading], during active: ActiveIntervals) {
    let values = readings.filter(active.contain).map(\.value)
    guard let minimum = values.min(), let maximum = values.max() else { return nil }
    let stretches = active.stretches(of: readings)
    let seconds = stretches.reduce(0) { $0 + $1.seconds }
    let mean =
      seconds > 0
      ? stretches.reduce(0) { $0 + $1.value * $1.seconds } / seconds : values.reduce(0, +) / Double(values.count)
    self.init(mean: mean, minimum: minimum, maximum: maximum)
  }
}
