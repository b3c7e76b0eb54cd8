import Destinations
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of delivered statistics when the person changes the settings on which they are based.
@Suite("Numbers made anew", .timeLimit(.minutes(5)))
struct StatisticsBasisTests {
  private let home: TestHome

  init() async throws {
    home = try TestHome()
    try await home.store.settings.setHomeZone("Etc/UTC")
    // From 08:00 on 15 June 2024 in UTC, which is 17:00 in Japan.
    try await home.fill(3)
  }

  private var output: String { home.directory.path("given.ndjson") }

  /// Returns a delivery to a program that is given daily statistics.
  private func operation(_ data: String = "day") throws -> DeliverOperation {
    try PrivateSettings.write(
      """
      [destination.one]
      kind = "command"
      data = "\(data)"
      command = ["/bin/sh", "-c", "cat >> '\(output)'"]

      """, home.home.settingsPath)
    let section = try #require(try home.home.settings().destination("one"))
    return DeliverOperation(section, home: home.home, store: home.store, policy: RetryPolicy(tolerance: 1))
  }

  private var hasOldNumbers: Bool {
    get async throws { try await RedeliveryRequests.hasOldNumbers("command:one", in: home.store) }
  }

  private struct Line: Decodable {
    var added: Sample?
    var deleted: Tombstone?
  }

  /// Returns the starts of the values that the program has.
  private func starts() throws -> Set<String> {
    var found: [UUID: Timestamp] = [:]
    for text in try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n") {
      let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
      if let sample = line.added { found[sample.uuid] = sample.start }
      if let tombstone = line.deleted { found[tombstone.sample.uuid] = nil }
    }
    return Set(found.values.map(\.iso8601))
  }

  @Test("days of another home zone take the place of those of the one before, once")
  func zone() async throws {
    let operation = try operation()
    _ = try await operation.run()
    #expect(try starts() == ["2024-06-15T00:00:00Z"])
    #expect(try await !hasOldNumbers)
    try await home.store.settings.setHomeZone("Asia/Tokyo")
    #expect(try await hasOldNumbers)
    #expect(try await operation.run().delivered > 0)
    #expect(try starts() == ["2024-06-14T15:00:00Z"])
    #expect(try await !hasOldNumbers)
    #expect(try await operation.run() == CourierReport())
    #expect(try await home.store.consumers().map(\.name) == ["command:one"])
  }

  @Test("of a destination that is removed no state is left, either, of what was taken back and sent again")
  func removedAfterwards() async throws {
    let operation = try operation()
    _ = try await operation.run()
    try await home.store.settings.setHomeZone("Asia/Tokyo")
    _ = try await operation.run()
    try await RedeliveryRequests.forget("command:one", in: home.store)
    #expect(try await home.store.deliveries.all().isEmpty)
    #expect(try await home.store.consumers().isEmpty)
  }

  @Test("hours that are the same in both zones are not taken back")
  func hours() async throws {
    let operation = try operation("hour")
    _ = try await operation.run()
    try await home.store.settings.setHomeZone("Asia/Tokyo")
    #expect(try await operation.run().delivered > 0)
    #expect(try starts() == ["2024-06-15T08:00:00Z"])
    try await home.store.settings.setHomeZone("Asia/Kolkata")
    #expect(try await operation.run().delivered > 0)
    #expect(try starts() == ["2024-06-15T07:30:00Z"])
  }

  @Test("sums are sent again when another source counts first, and only theirs")
  func ranking() async throws {
    let operation = try operation()
    _ = try await operation.run()
    try await home.store.settings.setFirstSource("Phone", of: SampleType("HKQuantityTypeIdentifierStepCount"))
    #expect(try await operation.run() == CourierReport())
    #expect(try await !hasOldNumbers)
    try await home.store.settings.setFirstSource("Watch", of: AppleExportText.heartRate)
    #expect(try await hasOldNumbers)
    #expect(try await operation.run().delivered > 0)
    #expect(try await operation.run() == CourierReport())
    #expect(try starts() == ["2024-06-15T00:00:00Z"])
  }

  @Test("a destination that makes days by itself begins anew with another home zone, and only then")
  func ownDays() async throws {
    try PrivateSettings.write(
      """
      [destination.days]
      kind = "daily-summary"
      url = "http://127.0.0.1:1/"
      days = 0
      metrics = { hr = "heartRate" }

      """, home.home.settingsPath)
    let section = try #require(try home.home.settings().destination("days"))
    let operation = DeliverOperation(
      section, home: home.home, store: home.store, policy: RetryPolicy(tolerance: 1))
    func beginsAnew() async throws -> Bool {
      let consumer = try await home.store.consumer(section.consumer)
      let page = try #require(try await consumer.pages().first { _ in true })
      // As if it had been delivered: nothing listens there.
      try await consumer.commit(page)
      return page.startsOver
    }
    await #expect(throws: CourierError.self) { try await operation.run() }
    #expect(try await !beginsAnew())
    try await home.store.settings.setHomeZone("Asia/Tokyo")
    await #expect(throws: CourierError.self) { try await operation.run() }
    #expect(try await beginsAnew())
    _ = try await operation.run()
    #expect(try await StatisticsBasis.last(of: section.consumer, in: home.store)?.zone == "Asia/Tokyo")
  }

  @Test("samples are not sent again, whatever is decided about numbers")
  func samples() async throws {
    let operation = try operation("samples")
    #expect(try await operation.run().delivered == 3)
    try await home.store.settings.setHomeZone("Asia/Tokyo")
    try await home.store.settings.setFirstSource("Watch", of: AppleExportText.heartRate)
    #expect(try await operation.run() == CourierReport())
  }

  @Test("what was taken back before another attempt failed is finished, also where the zone is the old one again")
  func interrupted() async throws {
    let operation = try operation()
    _ = try await operation.run()
    try await home.store.consumer(RedeliveryRequests.withdrawal("command:one", for: try ZoneRules(named: "Etc/UTC")))
    #expect(try await operation.run().delivered > 0)
    #expect(try starts() == ["2024-06-15T00:00:00Z"])
    #expect(try await home.store.consumers().map(\.name) == ["command:one"])
  }

  @Test("hours are not there twice where another zone was decided for while those of the first were taken back")
  func decidedAgain() async throws {
    let operation = try operation("hour")
    _ = try await operation.run()
    // As far as an attempt came that was cut off: hours in Japan begin when those in UTC do, so that none was taken back.
    let tokyo = RedeliveryRequests.withdrawal("command:one", for: try ZoneRules(named: "Asia/Tokyo"))
    let withdrawal = try await home.store.consumer(tokyo)
    for try await page in withdrawal.pages() { try await withdrawal.commit(page) }
    try await home.store.settings.setHomeZone("Asia/Kolkata")
    #expect(try await operation.run().delivered > 0)
    #expect(try starts() == ["2024-06-15T07:30:00Z"])
    #expect(try await home.store.consumers().map(\.name) == ["command:one"])
  }

  @Test("days of the zone before are taken back, too, whose samples an undone import took away")
  func undone() async throws {
    let operation = try operation()
    _ = try await operation.run()
    _ = try await home.store.imports.undoLast()
    #expect(try await home.count() == 0)
    try await home.store.settings.setHomeZone("Asia/Tokyo")
    _ = try await operation.run()
    #expect(try starts().isEmpty)
  }

  @Test("of a destination that is removed while numbers are made anew nothing is left")
  func removed() async throws {
    let (hold, begun) = (home.directory.path("hold"), home.directory.path("begun"))
    let script =
      "cat > /dev/null; if test -e '\(hold)'; then touch '\(begun)'; while test -e '\(hold)'; do sleep 0.1; done; fi"
    try PrivateSettings.write(
      """
      [destination.one]
      kind = "command"
      data = "day"
      command = ["/bin/sh", "-c", "\(script)"]

      """, home.home.settingsPath)
    let section = try #require(try home.home.settings().destination("one"))
    let operation = DeliverOperation(
      section, home: home.home, store: home.store, policy: RetryPolicy(tolerance: 1))
    _ = try await operation.run()
    try await home.store.settings.setHomeZone("Asia/Tokyo")
    try Data().write(to: URL(filePath: hold))
    let delivery = Task { try await operation.run() }
    while !FileManager.default.fileExists(atPath: begun) { try await Task.sleep(for: .milliseconds(20)) }
    try PrivateSettings.write("", home.home.settingsPath)
    try await RedeliveryRequests.forget(section.consumer, in: home.store)
    // As a delivery does that had looked before.
    try await RedeliveryRequests.deliverAgain(.everything, to: section.consumer, in: home.store)
    try await home.store.activities.setMark("{}", "numbers:\(section.consumer)")
    try FileManager.default.removeItem(atPath: hold)
    await #expect(throws: StoreError.self) { try await delivery.value }
    #expect(try await home.store.consumers().isEmpty)
    #expect(try await home.store.activities.state(of: "numbers:\(section.consumer)") == nil)
  }

  @Test("a destination that is given samples instead holds nothing back that was begun for numbers")
  func noNumbersAnyMore() async throws {
    _ = try await operation().run()
    try await home.store.consumer(RedeliveryRequests.withdrawal("command:one", for: try ZoneRules(named: "Etc/UTC")))
    _ = try await operation("samples").run()
    #expect(try await home.store.consumers().map(\.name) == ["command:one"])
  }
}
