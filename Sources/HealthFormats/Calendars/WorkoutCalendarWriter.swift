import HealthModel

/// Writes workouts as events of a calendar (iCalendar, RFC 5545), which calendar programs import and can be subscribed to.
///
/// An event has the UUID of its workout, so that importing a file again changes the events that are there.
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
  /// A calendar needs nothing to be known beforehand.
  public init() {}

  public func begin(into bytes: inout [UInt8]) { CalendarText.begin(to: &bytes) }

  /// - Returns: false for what is no workout, or lies in no year that a calendar has.
  public func append(_ sample: Sample, members: [Sample] = [], to bytes: inout [UInt8]) -> Bool {
    CalendarEvent(workout: sample)?.append(to: &bytes) ?? false
  }

  public func end(into bytes: inout [UInt8]) { CalendarText.end(to: &bytes) }
}
