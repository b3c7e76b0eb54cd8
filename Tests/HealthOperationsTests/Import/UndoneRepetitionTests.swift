import Foundation
import HealthModel
import HealthOperations
import HealthStore
import TestSupport
import Testing

/// Tests that undoing an import keeps what earlier imports reported.
@Suite struct UndoneRepetitionTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  /// Imports an export of a day in 2024 with the energy of one day, and one record of steps.
  private func `import`(_ date: String, energy: Int, steps: Int? = nil) async throws {
    let record = steps.map {
      #"<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" value="\#($0)" creationDate="2024-01-05 10:00:00 +0000" startDate="2024-01-05 10:00:00 +0000" endDate="2024-01-05 10:05:00 +0000"/>"#
    }
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="en_DE">
      <ExportDate value="2024-\(date) 12:00:00 +0000"/>
      \(record ?? "")
      <ActivitySummary dateComponents="2024-01-05" activeEnergyBurned="\(energy)" activeEnergyBurnedUnit="kcal"/>
      </HealthData>
      """
    let path = try home.file("export-\(date)-\(energy).xml", text)
    _ = try await home.importer(path).run(into: home.store)
  }

  private func energy() async throws -> String? {
    guard
      case .activitySummary(let summary)? = try await home.store.samples.page(of: .activitySummary, limit: 2).first?
        .payload
    else { return nil }
    return summary.attributes["activeEnergyBurned"]
  }

  private func undo() async throws {
    guard case .undone = try await home.store.imports.undoLast() else {
      Issue.record("not undone")
      return
    }
  }

  @Test("what was said again by an import before the one that is undone still counts as newer")
  func earlierRepetition() async throws {
    try await self.import("02-01", energy: 100)
    try await self.import("04-01", energy: 100)
    try await self.import("05-01", energy: 100, steps: 7)
    try await undo()
    try await self.import("03-01", energy: 90)
    #expect(try await energy() == "100")
  }

  @Test("what only the undone import said again counts no more")
  func ownRepetition() async throws {
    try await self.import("02-01", energy: 100)
    try await self.import("05-01", energy: 100, steps: 7)
    try await undo()
    try await self.import("03-01", energy: 90)
    #expect(try await energy() == "90")
  }

  @Test("what an import that changed nothing said again stays when the one before it is undone")
  func laterRepetition() async throws {
    try await self.import("02-01", energy: 100)
    try await self.import("03-01", energy: 100, steps: 7)
    try await self.import("05-01", energy: 100)
    try await undo()
    try await self.import("04-01", energy: 90)
    #expect(try await energy() == "100")
  }

  @Test("a reading that comes back with an undo has what was said of it before")
  func replacedReading() async throws {
    try await self.import("02-01", energy: 100)
    try await self.import("04-01", energy: 100)
    try await self.import("05-01", energy: 120)
    try await undo()
    #expect(try await energy() == "100")
    try await self.import("03-01", energy: 90)
    #expect(try await energy() == "100")
  }
}
