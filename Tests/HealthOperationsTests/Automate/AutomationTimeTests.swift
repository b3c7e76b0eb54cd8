import Foundation
import HealthModel
import HealthStore
import Testing

@testable import HealthOperations

/// Tests of the next run of an automation under clock changes.
struct AutomationTimeTests {
  private let berlin: TimeZone

  init() throws { berlin = try #require(TimeZone(identifier: "Europe/Berlin")) }

  private func instant(_ text: String) throws -> Timestamp { try #require(Timestamp(iso8601: text)) }

  private func state(created: String, started: String? = nil) throws -> ActivityState {
    var state = ActivityState(name: "automation:one", created: try instant(created))
    state.started = try started.map(instant)
    return state
  }

  private func daily(_ more: String) throws -> Automation {
    try AutomationSettingsTests.automation("when = \"time\"\ndo = \"pull\"\n" + more.lined)
  }

  @Test("times of day, over midnight, days of the week, and both changes of the clock")
  func timesOfDay() throws {
    let morning = try daily(#"at = ["07:30"]"#)
    func next(_ automation: Automation, _ last: String) throws -> Timestamp? {
      automation.nextTime(after: try state(created: last), now: try instant("2030-01-01T00:00:00Z"), in: berlin)
    }
    #expect(try next(morning, "2024-06-15T05:00:00Z") == instant("2024-06-15T05:30:00Z"))
    #expect(try next(morning, "2024-06-15T05:30:00Z") == instant("2024-06-16T05:30:00Z"))
    #expect(try next(morning, "2024-06-15T23:00:00Z") == instant("2024-06-16T05:30:00Z"))
    // A Saturday; Monday is the 17th.
    let weekly = try daily(#"at = ["07:30", "23:59"]\ndays = ["mon"]"#)
    #expect(try next(weekly, "2024-06-15T05:00:00Z") == instant("2024-06-17T05:30:00Z"))
    #expect(try next(weekly, "2024-06-17T05:30:00Z") == instant("2024-06-17T21:59:00Z"))
    // 02:30 is not there on 2024-03-31: 02:00 becomes 03:00 at 01:00 UTC.
    let night = try daily(#"at = ["02:30"]"#)
    #expect(try next(night, "2024-03-30T12:00:00Z") == instant("2024-03-31T01:00:00Z"))
    #expect(try next(night, "2024-03-31T01:00:00Z") == instant("2024-04-01T00:30:00Z"))
    // And twice on 2024-10-27: the first counts.
    #expect(try next(night, "2024-10-26T12:00:00Z") == instant("2024-10-27T00:30:00Z"))
    #expect(try next(night, "2024-10-27T00:30:00Z") == instant("2024-10-28T01:30:00Z"))
  }

  @Test("every day of ten years has each of its times once")
  func tenYears() throws {
    let automation = try daily(#"at = ["02:30", "12:00"]"#)
    var (instants, last) = (0, try instant("2020-01-01T00:00:00Z"))
    let end = try instant("2030-01-01T00:00:00Z")
    while true {
      let next = try #require(
        automation.nextTime(after: ActivityState(name: "x", created: last), now: end, in: berlin))
      #expect(next > last)
      guard next < end else { break }
      (last, instants) = (next, instants + 1)
    }
    #expect(instants == 2 * 3653)
  }

  @Test("an interval counts from the last beginning; a clock that was put back does not stop it for years")
  func intervals() throws {
    let automation = try AutomationSettingsTests.automation(#"when = "interval"\nevery = "6h"\ndo = "pull""#.lined)
    let known = try state(created: "2024-06-01T00:00:00Z", started: "2024-06-15T06:00:00Z")
    #expect(
      try automation.nextTime(after: known, now: instant("2024-06-15T07:00:00Z"), in: berlin)
        == instant("2024-06-15T12:00:00Z"))
    // Three days in which nothing ran: it is due once, since then.
    #expect(
      try automation.nextTime(after: known, now: instant("2024-06-18T07:00:00Z"), in: berlin)
        == instant("2024-06-15T12:00:00Z"))
    #expect(
      try automation.nextTime(after: known, now: instant("2020-01-01T00:00:00Z"), in: berlin)
        == instant("2020-01-01T06:00:00Z"))
  }

  @Test("a time of day that was dealt with does not come again when a clock is put right by a little")
  func corrections() throws {
    let automation = try daily(#"at = ["07:30"]"#)
    let known = try state(created: "2024-06-01T00:00:00Z", started: "2024-06-15T05:30:01Z")
    #expect(
      try automation.nextTime(after: known, now: instant("2024-06-15T05:29:58Z"), in: berlin)
        == instant("2024-06-16T05:30:00Z"))
  }

  @Test("a line is crossed once, until the value has come back by the distance")
  func thresholds() throws {
    let automation = try AutomationSettingsTests.automation(
      #"when = "threshold"\ntype = "restingHeartRate"\nabove = 70\nhysteresis = 3\ndo = "pull""#.lined)
    guard case .threshold(let threshold) = automation.trigger else {
      Issue.record("no threshold")
      return
    }
    var (position, crossings): (Threshold.Position?, [Double]) = (nil, [])
    for value in [72.0, 71, 66, 69, 70, 70.5, 68, 71, 67, 70.1] {
      let next = threshold.position(of: value, before: position)
      if next == .crossed, position == .ready { crossings.append(value) }
      position = next
    }
    // 72 was there to begin with; 68 has not come back far enough.
    #expect(crossings == [70.5, 70.1])
  }
}
