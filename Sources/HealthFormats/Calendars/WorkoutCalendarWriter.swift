import Foundation
import HealthAppTransfer
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

  public func begin(into bytes: inout [UInt8]) {
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//hpeer//hpeer//EN", "CALSCALE:GREGORIAN"] {
      Self.append(line, to: &bytes)
    }
  }

  /// - Returns: false for what is no workout, or lies in no year that a calendar has.
  public func append(_ sample: Sample, members: [Sample] = [], to bytes: inout [UInt8]) -> Bool {
    guard case .workout(let workout) = sample.payload, let start = Self.text(sample.start),
      let end = Self.text(sample.end), let stamp = Self.text(sample.created ?? sample.end)
    else { return false }
    Self.append("BEGIN:VEVENT", to: &bytes)
    Self.append("UID:\(sample.uuid.uuidString)", to: &bytes)
    Self.append("DTSTAMP:\(stamp)", to: &bytes)
    Self.append("DTSTART:\(start)", to: &bytes)
    // An event without one ends when it begins, and one may not end before (section 3.6.1).
    if end > start { Self.append("DTEND:\(end)", to: &bytes) }
    Self.append("SUMMARY:\(Self.escaped(workout.activityType.displayName))", to: &bytes)
    let lines = Self.description(of: workout, in: sample) + [sample.source.name]
    Self.append("DESCRIPTION:\(Self.escaped(lines.joined(separator: "\n")))", to: &bytes)
    Self.append("CATEGORIES:Workout", to: &bytes)
    Self.append("TRANSP:OPAQUE", to: &bytes)
    Self.append("END:VEVENT", to: &bytes)
    return true
  }

  public func end(into bytes: inout [UInt8]) { Self.append("END:VCALENDAR", to: &bytes) }

  private static func description(of workout: Workout, in sample: Sample) -> [String] {
    var lines: [String] = []
    if let duration = workout.duration, (0..<1e9).contains(duration) {
      let minutes = Int((duration / 60).rounded())
      lines.append(minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min")
    }
    // Its totals are metres and kilocalories, out of attributes or of statistics.
    let totals = HealthSampleDTO(sample, members: [], dates: .iso8601)
    if let distance = totals?.workoutTotalDistance, (1..<1e12).contains(distance) {
      lines.append("\((distance / 10).rounded() / 100) km")
    }
    if let energy = totals?.workoutTotalEnergyBurned, (1..<1e12).contains(energy) {
      lines.append("\(Int(energy.rounded())) kcal")
    }
    return lines
  }

  /// `20240615T103000Z` (section 3.3.5); `nil` beyond the years 1 to 9999.
  private static func text(_ instant: Timestamp) -> String? {
    guard (-62_135_596_800..<253_402_300_800).contains(instant.seconds) else { return nil }
    return Timestamp(seconds: instant.seconds).iso8601.filter { $0 != "-" && $0 != ":" }
  }

  /// Section 3.3.11; other control characters may not be in a text.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\", ";", ",":
        result.unicodeScalars.append("\\")
        result.unicodeScalars.append(scalar)
      case "\n": result += "\\n"
      case "\u{0}"..<" ", "\u{7F}": break
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  /// A line, folded where it has more than 75 bytes, but never within a character (section 3.1).
  private static func append(_ line: String, to bytes: inout [UInt8]) {
    var length = 0
    for scalar in line.unicodeScalars {
      let width = UTF8.width(scalar)
      if length + width > 75 {
        bytes.append(contentsOf: [0x0D, 0x0A, 0x20])
        length = 1
      }
      bytes.append(contentsOf: String(scalar).utf8)
      length += width
    }
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
