import Foundation
import HealthAppTransfer
import HealthModel

/// A calendar event (iCalendar, RFC 5545, section 3.6.1).
///
/// ```swift
/// func calendar(of workout: Sample) -> [UInt8]? {
///   CalendarEvent(workout: workout)?.calendar()
/// }
/// ```
public struct CalendarEvent: Hashable, Sendable {
  /// The time of an event.
  public enum Time: Hashable, Sendable {
    /// - Parameter end: the end; an event whose end is not after its start has no length.
    case instants(start: Timestamp, end: Timestamp)
    /// A whole date, in whatever time zone a calendar is displayed, as days since 1970-01-01.
    case day(Int)
  }

  /// The unique identifier, which stays the same when the event changes.
  public var uid: String
  /// The time at which the event's content was recorded.
  public var stamp: Timestamp
  /// The time of the event. An event outside the years 1 to 9999 is not written.
  public var time: Time
  /// The title.
  public var summary: String
  /// The lines of the description.
  public var description: [String]
  /// The category by which calendar programs may filter and colour, such as `Workout`.
  public var category: String
  /// Whether a calendar shows the time as busy.
  public var isBusy: Bool

  /// - Parameter uid: a globally unique identifier.
  public init(
    uid: String, stamp: Timestamp, time: Time, summary: String, description: [String] = [], category: String,
    isBusy: Bool = false
  ) {
    self.uid = uid
    self.stamp = stamp
    self.time = time
    self.summary = summary
    self.description = description
    self.category = category
    self.isBusy = isBusy
  }

  /// Creates an event from a workout's UUID, activity, duration, distance, energy and source; `nil` for other
  /// samples.
  public init?(workout sample: Sample) {
    guard case .workout(let workout) = sample.payload else { return nil }
    self.init(
      uid: sample.uuid.uuidString,
      stamp: sample.created.flatMap { CalendarText.instant($0) == nil ? nil : $0 } ?? sample.end,
      time: .instants(start: sample.start, end: sample.end), summary: workout.activityType.displayName,
      description: Self.description(of: workout, in: sample) + [sample.source.name], category: "Workout", isBusy: true)
  }

  private static func description(of workout: Workout, in sample: Sample) -> [String] {
    var lines: [String] = []
    if let duration = workout.duration, let text = Self.duration(duration) { lines.append(text) }
    // HealthSampleDTO has the totals in metres and kilocalories, from attributes or from statistics.
    let totals = HealthSampleDTO(sample, members: [], dates: .iso8601)
    if let distance = totals?.workoutTotalDistance, (1..<1e12).contains(distance) {
      lines.append("\((distance / 10).rounded() / 100) km")
    }
    if let energy = totals?.workoutTotalEnergyBurned, (1..<1e12).contains(energy) {
      lines.append("\(Int(energy.rounded())) kcal")
    }
    return lines
  }

  /// Returns a duration such as `29 min` or `7 h 5 min`, or `nil` if it is out of range.
  ///
  /// - Parameter seconds: from 0 to less than 1e9, about thirty years.
  public static func duration(_ seconds: Double) -> String? {
    guard (0..<1e9).contains(seconds) else { return nil }
    let minutes = Int((seconds / 60).rounded())
    return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
  }

  /// Returns a calendar with only this event, or `nil` if its time is outside the years 1 to 9999.
  ///
  /// - Parameter properties: the names and texts of additional lines, such as `X-HPEER-DIGEST:…`.
  public func calendar(_ properties: [(name: String, text: String)] = []) -> [UInt8]? {
    var bytes: [UInt8] = []
    CalendarText.begin(to: &bytes)
    guard append(properties, to: &bytes) else { return nil }
    CalendarText.end(to: &bytes)
    return bytes
  }

  /// Appends the event.
  ///
  /// - Returns: false, and nothing is written, if its time is outside the years 1 to 9999.
  func append(_ properties: [(name: String, text: String)] = [], to bytes: inout [UInt8]) -> Bool {
    guard let stamp = CalendarText.instant(stamp), let times = times() else { return false }
    let lines =
      ["BEGIN:VEVENT", "UID:\(CalendarText.escaped(uid))", "DTSTAMP:\(stamp)"] + times
      + ["SUMMARY:\(CalendarText.escaped(summary))"]
      + (description.isEmpty ? [] : ["DESCRIPTION:\(CalendarText.escaped(description.joined(separator: "\n")))"])
      + ["CATEGORIES:\(CalendarText.escaped(category))", "TRANSP:\(isBusy ? "OPAQUE" : "TRANSPARENT")"]
      + properties.map { "\($0.name):\(CalendarText.escaped($0.text))" } + ["END:VEVENT"]
    for line in lines { CalendarText.append(line, to: &bytes) }
    return true
  }

  private func times() -> [String]? {
    switch time {
    case .instants(let start, let end):
      guard let first = CalendarText.instant(start), let last = CalendarText.instant(end) else { return nil }
      // Without DTEND, an event ends when it begins. DTEND must be later than DTSTART (section 3.6.1).
      return ["DTSTART:\(first)"] + (last > first ? ["DTEND:\(last)"] : [])
    case .day(let day):
      guard let first = CalendarText.date(day), let next = CalendarText.date(day + 1) else { return nil }
      return ["DTSTART;VALUE=DATE:\(first)", "DTEND;VALUE=DATE:\(next)"]
    }
  }
}
