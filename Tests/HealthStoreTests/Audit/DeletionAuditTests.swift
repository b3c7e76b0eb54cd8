import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests that a deletion and its audit event are written in the same transaction.
@Suite struct DeletionAuditTests {
  @Test func everyTransactionHasItsEvent() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 1)
    try await fixture.store.apply(ChangeBatch(additions: (0..<25).map { maker.steps(at: $0) }))
    let all = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    let deleted = try await fixture.store.samples.delete(SampleMaker.stepCount, in: all, step: 10) { count in
      AuditEvent(.deleted, ["count": String(count)])
    }
    #expect(deleted == 25)
    let records = try await fixture.store.audit.records()
    #expect(records.map(\.detail["count"]) == ["10", "10", "5"])
    #expect(try await fixture.store.audit.verify() == .intact(rows: 3))
  }

  @Test func nothingToDeleteIsNoEvent() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 1)
    try await fixture.store.apply(ChangeBatch(additions: (0..<20).map { maker.steps(at: $0) }))
    let all = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    for _ in 0..<2 {
      _ = try await fixture.store.samples.delete(SampleMaker.stepCount, in: all, step: 10) { count in
        AuditEvent(.deleted, ["count": String(count)])
      }
    }
    #expect(try await fixture.store.audit.records().count == 2)
  }
}
