import Foundation
import HealthModel
import Testing

@testable import Destinations

@Suite(
  "Home Assistant's recorder",
  .enabled(if: HomeAssistantServer.isInstalled, Comment(rawValue: HomeAssistantServer.environment.missing)),
  .timeLimit(.minutes(5)))
struct HomeAssistantRecorderTests {
  private let fixture: RecordFixture

  init() throws { fixture = try RecordFixture() }

  /// Returns the error of a check if the recorder refuses `times` times.
  private func check(_ code: String, times: Int) async throws -> DeliveryError? {
    let recorder = try await RecorderStandIn(.init(code: code, refusals: times))
    let place = try recorder.destination(of: fixture)
    var found: DeliveryError?
    do { try await place.check() } catch let error as DeliveryError { found = error }
    await place.close()
    return found
  }

  @Test("a recorder that has not come to it in time is waited for, though not for ever; another refusal counts at once")
  func clearing() async throws {
    #expect(try await check("timeout", times: 2) == nil)
    let late = DeliveryError.temporary(reason: "127.0.0.1 could not keep history (no time)")
    #expect(try await check("timeout", times: 1_000) == late)
    #expect(try await check("unknown_error", times: 1) == late)
  }

  @Test(
    "an older copy of its database is given what it lacks, from the first day that differs", arguments: [0, 3, 9, 40])
  func olderCopy(days: Int) async throws {
    let recorder = try await RecorderStandIn(.init())
    let place = try recorder.destination(of: fixture)
    let noon = fixture.now.seconds / 86_400 * 86_400 - 43_200
    var samples: [Sample] = []
    for day in 1...40 {
      let ago = fixture.now.seconds - noon + Int64(day) * 86_400
      samples.append(fixture.quantity(RecordFixture.steps, Double(100 + day), "count", ago: ago))
      samples.append(fixture.quantity(RecordFixture.bodyMass, Double(60 + day), "kg", ago: ago - 3_600, for: 0))
    }
    try await fixture.add(samples)
    try await fixture.deliver(to: place)
    let range = Timestamp(seconds: noon - 41 * 86_400)..<Timestamp(seconds: noon + 86_400)
    func all() async throws -> [[JSONValue]] {
      [
        try await recorder.numbers("sum", of: "hpeer:me_step_count", in: range),
        try await recorder.numbers("mean", of: "hpeer:me_body_mass", in: range),
      ]
    }
    let before = try await all()
    #expect(before.map(\.count) == [40, 40])
    try await recorder.lose(from: Timestamp(seconds: noon - Int64(days) * 86_400 - 7_200))
    #expect(try await recorder.rows() == .integer(2 * (40 - Int64(days))))
    // A new process, which looks at once.
    let next = try recorder.destination(of: fixture)
    let found = try await next.examine()
    if days == 0 {
      #expect(found == .intact)
    } else {
      #expect(found == .incomplete(loss: "history of 2 types"))
      try await next.mend()
    }
    #expect(try await all() == before)
    // News meets an older copy before anyone has looked.
    try await recorder.lose(from: Timestamp(seconds: noon - Int64(days) * 86_400 - 7_200))
    try await fixture.add([fixture.quantity(RecordFixture.steps, 5, "count", ago: 7_200)])
    try await fixture.deliver(to: next)
    let sums = try await recorder.numbers("sum", of: "hpeer:me_step_count", in: range)
    #expect(Array(sums.prefix(40)) == before[0])
    await place.close()
    await next.close()
  }

  /// The distance to ten o'clock yesterday in UTC, in seconds before now.
  private var ten: Int64 { fixture.now.seconds % 86_400 + 86_400 - 36_000 }

  private func weight(_ value: Double, ago seconds: Int64) -> Sample {
    fixture.quantity(RecordFixture.bodyMass, value, "kg", ago: seconds, for: 0)
  }

  @Test(
    "what it has taken and not written when it ends is sent again, though the last hour is as it was",
    arguments: [false, true])
  func lostMean(isText: Bool) async throws {
    let recorder = try await RecorderStandIn(.init(isText: isText, lost: 2))
    let place = try recorder.destination(of: fixture)
    func means() async throws -> [JSONValue] {
      let start = fixture.now.seconds - ten
      return try await recorder.numbers(
        "mean", of: "hpeer:me_body_mass", in: Timestamp(seconds: start)..<Timestamp(seconds: start + 7_200))
    }
    try await fixture.add([weight(80, ago: ten), weight(81, ago: ten - 3_600)])
    try await fixture.deliver(to: place)
    try await fixture.add([weight(90, ago: ten)])
    await #expect(throws: CourierError.self) { try await fixture.deliver(to: place) }
    #expect(try await means() == [.integer(80), .integer(81)])
    try await fixture.deliver(to: place)
    #expect(try await means() == [.integer(85), .integer(81)])
    await place.close()
  }

  @Test("what an attempt that was cut off has sent is not written after a delivery is done")
  func heldMean() async throws {
    let recorder = try await RecorderStandIn(.init(held: 2))
    let place = try recorder.destination(of: fixture)
    try await fixture.add([weight(80, ago: ten), weight(81, ago: ten - 3_600)])
    try await fixture.deliver(to: place)
    let late = weight(90, ago: ten)
    try await fixture.add([late])
    await #expect(throws: CourierError.self) { try await fixture.deliver(to: place) }
    #expect(try await recorder.waiting() == .integer(1))
    // It has what it should have, until it comes to that.
    try await fixture.delete([late])
    try await fixture.deliver(to: place)
    #expect(try await recorder.waiting() == .integer(0))
    await place.close()
  }

  @Test("a few steps more are another number in a sum of millions, too")
  func lostSum() async throws {
    let recorder = try await RecorderStandIn(.init(lost: 2))
    let place = try recorder.destination(of: fixture)
    try await fixture.add([
      fixture.quantity(RecordFixture.steps, 30_000_000, "count", ago: ten),
      fixture.quantity(RecordFixture.steps, 1, "count", ago: ten - 3_600),
    ])
    try await fixture.deliver(to: place)
    try await fixture.add([fixture.quantity(RecordFixture.steps, 5, "count", ago: ten - 600)])
    await #expect(throws: CourierError.self) { try await fixture.deliver(to: place) }
    try await fixture.deliver(to: place)
    let start = fixture.now.seconds - ten
    let sums = try await recorder.numbers(
      "sum", of: "hpeer:me_step_count", in: Timestamp(seconds: start)..<Timestamp(seconds: start + 7_200))
    #expect(sums == [.integer(30_000_005), .integer(30_000_006)])
    await place.close()
  }

  @Test("hours far apart are read back, however many there are between that were not sent")
  func farApart() async throws {
    let recorder = try await RecorderStandIn(.init(isFull: true))
    let place = try recorder.destination(of: fixture)
    // Nine years in one answer would be too long a message.
    for hours in [0, 3_900, 30_000, 78_000] {
      try await fixture.add([weight(80, ago: ten + Int64(hours) * 3_600)])
    }
    try await fixture.deliver(to: place)
    await place.close()
  }
}
