import Foundation
import HealthAppTransfer
import HealthModel

/// An event of a calendar (iCalendar, RFC 5545, section 3.6.1).
///
/// ```swift
/// func calendar(of workout: Sample) -> [UInt8]? {
///   CalendarEvent(workout: workout)?.calendar()
/// }
/// ```
public struct CalendarEvent: Hashable, Sendable {
  /// When an event is.
  public enum Time: Hashable, Sendable {
    /// - Parameter end: before ``start``, or the same, for an event without a length.
    case instants(start: Timestamp, end: Timestamp)
    /// All of a date, in whatever zone a calendar is looked at: days since 1970-01-01.
    case day(Int)
  }

  /// The same for an event that is changed.
  public var uid: String
  /// When what it says was recorded.
  public var stamp: Timestamp
  /// When it is; nothing is shown of an event in no year that a calendar has.
  public var time: Time
  /// Its title.
  public var summary: String
  /// A line each.
  public var description: [String]
  /// What calendar programs may filter and colour by, such as `Workout`.
  public var category: String
  /// Whether a calendar shows that time as taken.
  public var isBusy: Bool

  /// - Parameter uid: what nobody else gives to an event.
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

  /// A workout with its activity, duration, distance, energy and source, under its UUID; `nil` of what is no workout.
  public init?(workout sample: Sample) {
    guard case .workout(let workout) = sample.payload else { return nil }
    self.init(
      uid: sample.uuid.uuidString, stamp: sample.created.flatMap { CalendarText.instant($0) == nil ? nil : $0 } ?? sample.end,
      time: .instants(start: sample.start, end: sample.end), summary: workout.activityType.displayName,
      description: Self.description(of: workout, in: sample) + [sample.source.name], category: "Workout", isBusy: true)
  }

  private static func description(of workout: Workout, in sample: Sample) -> [String] {
    var lines: [String] = []
    if let duration = workout.duration, let text = Self.duration(duration) { lines.append(text) }
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

  /// `29 min`, `7 h 5 min`; `nil` of a length that nothing has.
  ///
  /// - Parameter seconds: from 0 to some thirty years.
  public static func duration(_ seconds: Double) -> String? {
    guard (0..<1e9).contains(seconds) else { return nil }
    let minutes = Int((seconds / 60).rounded())
    return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
  }

  /// A calendar with this event alone; `nil` where it lies in no year that a calendar has.
  ///
  /// - Parameter properties: lines of the event beside its own, such as `X-HPEER-DIGEST:…`: names and texts.
  public func calendar(_ properties: [(name: String, text: String)] = []) -> [UInt8]? {
    var bytes: [UInt8] = []
    CalendarText.begin(to: &bytes)
    guard append(properties, to: &bytes) else { return nil }
    CalendarText.end(to: &bytes)
    return bytes
  }

  /// - Returns: false, and nothing written, where it lies in no year that a calendar has.
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
      // An event without an end ends when it begins, and one may not end before (section 3.6.1).
      return ["DTSTART:\(first)"] + (last > first ? ["DTEND:\(last)"] : [])
    case .day(let day):
      guard let first = CalendarText.date(day), let next = CalendarText.date(day + 1) else { return nil }
      return ["DTSTART;VALUE=DATE:\(first)", "DTEND;VALUE=DATE:\(next)"]
    }
  }
}
