import HealthModel

/// Writes workouts as calendar events (iCalendar, RFC 5545), for calendar programs to import or subscribe to.
///
/// An event has the UUID of its workout, so importing a file again updates the existing events.
///
/// ```swift
/// func calendar(of workouts: [Sample]) -> [UInt8] {
///   let writer = WorkoutCalendarWriter()
///   var bytes: [UInt8] = []
///   writer.begin(into: &bytes)
///   for workout in workouts { _ = writer.append(workout, members: [], to: &bytes) }
///   writer.end(into: &bytes)
///   return bytes
/// }
/// ```
public struct WorkoutCalendarWriter: SelectiveFileWriter, Sendable {
  /// Creates a writer.
  public init() {}

  public func begin(into bytes: inout [UInt8]) { CalendarText.begin(to: &bytes) }

  /// Writes a workout.
  ///
  /// - Returns: false, and nothing is written, for other samples and for workouts outside the years 1 to 9999.
  public func append(_ sample: Sample, members: [Sample] = [], to bytes: inout [UInt8]) -> Bool {
    CalendarEvent(workout: sample)?.append(to: &bytes) ?? false
  }

  public func end(into bytes: inout [UInt8]) { CalendarText.end(to: &bytes) }
}
