import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

/// Tests of the events that Radicale stores, as read by icalendar.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: RadicaleServer.canJudge, "\(RadicaleServer.missing), or its judge is missing"))
struct CalDAVTests {
  private static let server = Result { try RadicaleServer() }

  private let server: RadicaleServer
  private let home: DestinationHome
  /// The name of a calendar for this test only.
  private let calendar = UUID().uuidString

  init() throws {
    server = try Self.server.get()
    home = try DestinationHome()
  }

  private func destination(
    _ values: [String: DestinationSettings.Value] = [:], password: String = "s3cret"
  ) throws -> CalDAVDestination {
    try home.make(
      CalDAVDestination.self, values.merging(settings) { first, _ in first }, secrets: ["PASSWORD": password])
  }

  private var settings: [String: DestinationSettings.Value] {
    ["url": .text(server.url(calendar)), "username": .text("ada"), "password": .text("env:PASSWORD")]
  }

  private func workout(_ day: Int, _ activity: UInt = 37, uuid: UUID = UUID(), energy: Double = 350) -> Sample {
    // 2024-06-15T10:30:00Z and days after it.
    let start = Timestamp(seconds: 1_718_447_400 + Int64(day) * 86_400)
    return Sample(
      uuid: uuid, type: .workout, start: start, end: Timestamp(seconds: start.seconds + 1_800),
      source: Source(name: "Ada’s Watch, the 2nd; really"),
      payload: .workout(
        Workout(
          activityType: .value(activity), duration: 1_750,
          totals: ["totalDistance": Quantity(5.0123, "km"), "totalEnergyBurned": Quantity(energy, "Cal")])))
  }

  private func steps(_ day: Int, _ count: Double) -> Sample {
    let start = Timestamp(seconds: 1_718_447_400 + Int64(day) * 86_400)
    return Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierStepCount"), start: start,
      end: Timestamp(seconds: start.seconds + 60), source: Source(name: "iPhone"),
      payload: .quantity(Quantity(count, "count")))
  }

  @Test("workouts are events of a calendar that is made, with the names of their activities, and go with them")
  func workouts() async throws {
    let destination = try destination()
    let workouts = [workout(0), workout(1, 13), workout(2, 3_000), workout(3, 50)]
    try await home.add(workouts + (0..<20).map { steps($0, 100) })
    #expect(try await home.deliver(to: destination).delivered == 24)
    var events = try await server.events(calendar)
    #expect(events.map(\.summary) == ["Running", "Cycling", "Other", "Traditional Strength Training"])
    #expect(events.map(\.uid) == workouts.map { $0.uuid.uuidString })
    #expect(events[0].start == "2024-06-15T10:30:00+00:00" && events[0].end == "2024-06-15T11:00:00+00:00")
    #expect(events[0].description == "29 min\n5.01 km\n350 kcal\nAda’s Watch, the 2nd; really")

    try await home.delete([workouts[1], workouts[2]])
    #expect(try await home.deliver(to: destination).delivered == 2)
    events = try await server.events(calendar)
    #expect(events.map(\.uid) == [workouts[0].uuid.uuidString, workouts[3].uuid.uuidString])
    await destination.close()
  }

  @Test("what comes again doubles nothing and undoes nothing that a person wrote, and what has changed is changed")
  func again() async throws {
    let destination = try destination()
    let uuid = UUID()
    try await home.add([workout(0, uuid: uuid), workout(1)])
    _ = try await home.deliver(to: destination)
    let url = server.url(calendar) + CalendarCollection.name(uuid.uuidString.lowercased())
    let event = String(decoding: try await server.ask("GET", url).body, as: UTF8.self)
    try await server.ask(
      "PUT", url, [("Content-Type", "text/calendar")], event.replacing("SUMMARY:Running", with: "SUMMARY:My first 5 km")
    )

    var coder = ChangeCoder()
    for sample in [workout(0, uuid: uuid), workout(5)] { try coder.add(sample) }
    let batch = DeliveryBatch(changes: coder.changes, startsOver: false)
    for _ in 0..<2 { _ = try await destination.deliver(batch, key: DeliveryKey(description: "key")) }
    #expect(try await server.events(calendar).map(\.summary) == ["My first 5 km", "Running", "Running"])

    coder = ChangeCoder()
    try coder.add(workout(0, uuid: uuid, energy: 500))
    let changed = DeliveryBatch(changes: coder.changes, startsOver: false)
    _ = try await destination.deliver(changed, key: DeliveryKey(description: "key2"))
    let events = try await server.events(calendar)
    #expect(events.count == 3 && events[0].description.contains("500 kcal") && events[0].summary == "Running")
    await destination.close()
  }

  @Test("to begin anew leaves what is not hpeer's")
  func startsOver() async throws {
    let destination = try destination()
    try await home.add([workout(0), workout(1)])
    _ = try await home.deliver(to: destination)
    let foreign = """
      BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:mine\r\nDTSTAMP:20240101T000000Z\r\n\
      DTSTART:20240101T000000Z\r\nSUMMARY:Dentist\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
      """
    try await server.ask("PUT", server.url(calendar) + "mine.ics", [("Content-Type", "text/calendar")], foreign)
    var coder = ChangeCoder()
    try coder.add(workout(7))
    let batch = DeliveryBatch(changes: coder.changes, startsOver: true)
    // Another process, which has not seen what is there.
    let later = try self.destination()
    _ = try await later.deliver(batch, key: DeliveryKey(description: "key"))
    let events = try await server.events(calendar)
    #expect(events.map(\.summary) == ["Dentist", "Running"] && events[1].start.hasPrefix("2024-06-22"))
    await destination.close()
    await later.close()
  }

  @Test("to begin anew leaves what another record has in the same calendar")
  func sharedCalendar() async throws {
    let other = try DestinationHome()
    try await other.add([workout(3)])
    let theirs = try other.make(CalDAVDestination.self, settings, secrets: ["PASSWORD": "s3cret"])
    _ = try await other.deliver(to: theirs)
    let destination = try destination()
    try await home.add([workout(0)])
    _ = try await home.deliver(to: destination)
    var coder = ChangeCoder()
    try coder.add(workout(7))
    let batch = DeliveryBatch(changes: coder.changes, startsOver: true)
    _ = try await destination.deliver(batch, key: DeliveryKey(description: "key"))
    let starts = try await server.events(calendar).map { $0.start.prefix(10) }
    #expect(starts == ["2024-06-18", "2024-06-22"])
    await destination.close()
    await theirs.close()
  }

  @Test("a day that reaches a milestone has an event, and one that falls back loses it")
  func milestones() async throws {
    let destination = try destination([
      "workouts": .boolean(false), "milestones": .table(["stepCount": "10000", "distanceWalkingRunning": "5 km"]),
    ])
    let more = steps(1, 4_000)
    try await home.add([steps(0, 9_999), steps(1, 7_000), more, steps(2, 12_345), workout(0)])
    _ = try await home.deliver(to: destination)
    var events = try await server.events(calendar)
    #expect(events.map(\.start) == ["2024-06-16", "2024-06-17"])
    #expect(events.map(\.end) == ["2024-06-17", "2024-06-18"])
    #expect(
      Set(events.map(\.summary)) == ["Steps: 10000 reached"] || events.allSatisfy { $0.summary.contains("10000") })
    try await home.add(
      [steps(0, 1)].map { sample in
        var sample = sample
        sample.start = Timestamp(seconds: sample.start.seconds + 600)
        sample.end = Timestamp(seconds: sample.end.seconds + 600)
        return sample
      })
    try await home.delete([more])
    _ = try await home.deliver(to: destination)
    events = try await server.events(calendar)
    #expect(events.map(\.start) == ["2024-06-15", "2024-06-17"])
    await destination.close()
  }

  @Test("a night is one event, from going to bed to getting up")
  func nights() async throws {
    let destination = try destination(["nights": .boolean(true)])
    func sleep(_ minutes: Range<Int64>, _ value: Int64) -> Sample {
      let start: Int64 = 1_718_488_800  // 2024-06-15T22:00:00Z
      return Sample(
        uuid: UUID(), type: SampleType("HKCategoryTypeIdentifierSleepAnalysis"),
        start: Timestamp(seconds: start + minutes.lowerBound * 60),
        end: Timestamp(seconds: start + minutes.upperBound * 60), source: Source(name: "Watch"),
        payload: .category(CategoryValue(value: value)))
    }
    let deep = sleep(90..<180, 4)
    try await home.add([sleep(0..<90, 3), deep])
    _ = try await home.deliver(to: destination)
    #expect(try await server.events(calendar).map(\.summary) == ["Sleep 3 h 0 min"])
    // The watch says the rest later.
    try await home.add([sleep(180..<400, 5)])
    _ = try await home.deliver(to: destination)
    var events = try await server.events(calendar)
    #expect(events.map(\.summary) == ["Sleep 6 h 40 min"] && events[0].end == "2024-06-16T04:40:00+00:00")
    #expect(events[0].description == "Deep 1 h 30 min\nREM 3 h 40 min\nCore 1 h 30 min\nWatch")
    let all = try await home.store.samples.page(of: deep.type, limit: 10)
    try await home.delete(all)
    _ = try await home.deliver(to: destination)
    events = try await server.events(calendar)
    #expect(events.isEmpty)
    await destination.close()
  }

  @Test("a check makes the calendar, leaves nothing in it, and says what is wrong")
  func check() async throws {
    let destination = try destination()
    try await destination.check()
    #expect(try await server.events(calendar).isEmpty)
    try await destination.check()
    await destination.close()

    let wrong = try self.destination(password: "wrong")
    await #expect(throws: DeliveryError.unusable(reason: "it answers 401: the credentials are wrong")) {
      try await wrong.check()
    }
    await wrong.close()
    let missing = try self.destination(["url": .text(server.url("missing")), "create": .boolean(false)])
    let error = await #expect(throws: DeliveryError.self) { try await missing.check() }
    #expect(error.map { "\($0)".hasPrefix("there is no calendar at this address") } == true)
    await missing.close()
    let foreign = try self.destination([
      "url": .text(server.url("x").replacing("/ada/", with: "/bob/"))
    ])
    let refusal = await #expect(throws: DeliveryError.self) { try await foreign.check() }
    guard case .unusable? = refusal else {
      Issue.record("somebody else's calendar: \(String(describing: refusal))")
      return
    }
    await foreign.close()
  }
}
