import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import TestSupport
import Testing

/// Tests of importing a Fitbit export into a store, and of what a later export adds.
@Suite struct FitbitImportTests {
  private static let takeout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "HealthFormatsTests/Fitbit/Fixtures/Takeout").path

  @Test("an export adds nothing the second time, and a later one what is new")
  func again() async throws {
    let home = try TestHome()
    let first = try await home.importer(Self.takeout).run(into: home.store)
    #expect(first.report.isComplete && first.summary.added > 50)
    let second = try await home.importer(Self.takeout).run(into: home.store)
    #expect(second.summary.added == 0 && second.summary.deleted == 0)
    let later = home.directory.path("later")
    try FileManager.default.copyItem(atPath: Self.takeout, toPath: later)
    let steps =
      #"[{"dateTime": "12/01/25 14:00:00", "value": "99"}, {"dateTime": "11/02/25 14:00:00", "value": "120"}]"#
    try Data(steps.utf8).write(to: URL(filePath: later + "/Fitbit/Global Export Data/steps-2025-12-01.json"))
    let third = try await home.importer(later).run(into: home.store)
    #expect(third.summary.added == 1)
  }

  @Test("days and nights are those of the person, also where the clock goes back")
  func numbers() async throws {
    let home = try TestHome()
    _ = try await home.importer(Self.takeout).run(into: home.store)
    let zone = try ZoneRules(#require(TimeZone(identifier: "America/New_York")))
    let nights = try await SleepQuery(in: zone).run(on: home.store)
    #expect(nights.map { (($0.asleep ?? 0) / 60).rounded(.down) } == [481, 491])
  }
}
