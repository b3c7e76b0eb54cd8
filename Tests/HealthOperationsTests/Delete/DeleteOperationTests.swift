import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import Testing

@Suite struct DeleteOperationTests {
  private static let heartRate = AppleExportText.heartRate
  private static let start = AppleExportText.start
  private static let firstFive = start..<Timestamp(seconds: start.seconds + 300)

  private let home: TestHome

  init() async throws {
    home = try TestHome()
    try await home.fill(20)
  }

  private static func filter(_ range: Range<Timestamp> = firstFive, and others: SampleType...) -> SampleFilter {
    SampleFilter(types: Set([heartRate] + others), earliest: range.lowerBound, end: range.upperBound)
  }

  private func delete(_ range: Range<Timestamp> = firstFive) async throws -> Int {
    let operation = DeleteOperation(Self.filter(range))
    var deleted = 0
    try await operation.run(try await operation.plan(in: home.store), in: home.store) { deleted += $1 }
    return deleted
  }

  private func restorer() async throws -> RestoreOperation {
    RestoreOperation(
      Self.filter(), from: try await ImportFile.recognised(at: home.directory.path("filling.xml")), named: "filling.xml"
    )
  }

  @Test func thePlanCountsAndChangesNothing() async throws {
    let steps = SampleType("HKQuantityTypeIdentifierStepCount")
    let plan = try await DeleteOperation(Self.filter(Self.firstFive, and: steps)).plan(in: home.store)
    #expect(plan.entries.map(\.type) == [Self.heartRate])
    #expect(plan.samples == 5)
    #expect(try await home.count() == 20)
  }

  @Test func theAuditLogHasWhatWasDeleted() async throws {
    #expect(try await delete() == 5)
    #expect(try await home.count() == 15)
    let event = try #require(try await home.audited().last)
    #expect(event.event == "delete")
    #expect(
      event.detail
        == [
          "types": "heartRate", "count": "5", "from": Self.firstFive.lowerBound.iso8601,
          "to": Self.firstFive.upperBound.iso8601,
        ])
  }

  @Test func withoutABoundEverythingIsMeant() async throws {
    let operation = DeleteOperation(SampleFilter(types: [Self.heartRate]))
    let plan = try await operation.plan(in: home.store)
    #expect(plan.samples == 20)
    try await operation.run(plan, in: home.store)
    #expect(try await home.count() == 0)
    let event = try #require(try await home.audited().last)
    #expect(event.detail == ["types": "heartRate", "count": "20"])
  }

  @Test func whatNobodyHearsOfAnyMoreEndsIt() async throws {
    struct Gone: Error {}
    let operation = DeleteOperation(Self.filter())
    let plan = try await operation.plan(in: home.store)
    await #expect(throws: Gone.self) { try await operation.run(plan, in: home.store) { _, _ in throw Gone() } }
  }

  @Test func whatWasDeletedComesBackFromAFileThatHasIt() async throws {
    _ = try await delete()
    let operation = try await restorer()
    let plan = try await operation.plan(in: home.store)
    #expect(plan.entries.map(\.samples) == [5])
    #expect(plan.entries.first?.extent.lowerBound == Self.start)
    #expect(try await home.count() == 15)
    #expect(try await operation.run(plan, in: home.store) == [Self.heartRate: 5])
    #expect(try await home.count() == 20)
    let event = try #require(try await home.audited().last)
    #expect(event.event == "undelete")
    #expect(event.detail["file"] == "filling.xml")
    #expect(event.detail["count"] == "5")
  }

  @Test func whatIsHereDoesNotComeBack() async throws {
    let operation = try await restorer()
    let plan = try await operation.plan(in: home.store)
    #expect(plan.entries.isEmpty)
    #expect(try await operation.run(plan, in: home.store).isEmpty)
    #expect(try await home.count() == 20)
  }
}
