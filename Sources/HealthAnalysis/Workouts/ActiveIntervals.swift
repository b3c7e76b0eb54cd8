import HealthModel

/// The active intervals of a workout: the time from its start to its end, without its pauses.
struct ActiveIntervals {
  typealias Reading = (start: Int64, end: Int64, value: Double)

  /// The intervals in microseconds, ascending and disjoint.
  let intervals: [Range<Int64>]

  /// Creates a single interval without pauses.
  init(_ range: Range<Int64>) {
    intervals = [range]
  }

  /// Creates the active intervals of a workout.
  ///
  /// - Parameter sample: the workout's sample, which gives its start and end.
  init(_ workout: Workout, of sample: Sample) {
    self.init(workout.events, from: sample.start.microseconds, to: sample.end.microseconds)
  }

  /// Creates the active intervals of a period.
  ///
  /// - Parameters:
  ///   - events: events at any time; those unrelated to pauses are ignored.
  ///   - start: in microseconds since 1970, as is `end`.
  init(_ events: [WorkoutEvent], from start: Int64, to end: Int64) {
    guard start < end else {
      intervals = []
      return
    }
    var intervals: [Range<Int64>] = []
    // If a workout is paused both manually and by motion detection, it continues only after both have resumed.
    var (byHand, byMotion) = (false, false)
    var begin: Int64? = start
    for change in Self.changes(events) {
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

  /// The pauses between the intervals. A pause at the start or the end of the workout does not count.
  var pauses: [Range<Int64>] {
    zip(intervals, intervals.dropFirst()).map { $0.upperBound..<$1.lowerBound }
  }

  var seconds: Double { intervals.reduce(0) { $0 + Double($1.upperBound) - Double($1.lowerBound) } / 1_000_000 }

  private struct Change {
    var time: Int64
    var isPause: Bool
    var isByMotion: Bool
  }

  /// Returns the pauses and resumptions in order. A pause with a duration ends by itself.
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

  /// Returns the values in active intervals with the time for which each holds: until the next value, but at most 300
  /// s after its own end.
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

  /// The readings that overlap an active interval.
  func overlapping(_ readings: [Reading]) -> [Reading] {
    guard !intervals.isEmpty else { return [] }
    let starts = intervals.map(\.lowerBound)
    return readings.filter { reading in
      let last = max(reading.start, reading.end)
      let interval = intervals[starts.lastIndex(notAfter: last)]
      return interval.lowerBound <= last && reading.start < interval.upperBound
    }
  }
}
