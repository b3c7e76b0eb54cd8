import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct RoundTripTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  private func expectKept(_ samples: [Sample], _ comment: Comment? = nil) async throws {
    let read = try await store.allChanges().map { change -> Data in
      guard case .added(let sample) = change else { return Data() }
      return try sample.text()
    }
    #expect(read.count == samples.count, comment)
    for (sample, read) in zip(samples, read) {
      let written = try sample.text()
      if written != read {
        Issue.record("\(String(decoding: written, as: UTF8.self)) became \(String(decoding: read, as: UTF8.self))")
      }
    }
  }

  @Test func everyKindAndOddityIsKept() async throws {
    let samples = SampleMaker.edgeCases
    let summary = try await store.apply(ChangeBatch(additions: samples))
    #expect(summary.added == samples.count)
    try await expectKept(samples)
  }

  @Test func everyKindAndOddityIsKeptInATransactionOfItsOwn() async throws {
    let samples = SampleMaker.edgeCases
    for sample in samples { try await store.add(sample) }
    try await expectKept(samples)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func randomSamplesAreKept(seed: UInt64) async throws {
    var maker = SampleMaker(seed: seed)
    let samples = maker.samples(500)
    try await store.apply(ChangeBatch(additions: samples))
    try await expectKept(samples, "seed \(seed)")
  }

  @Test func eachSampleIsFoundByItsReference() async throws {
    let samples = SampleMaker.edgeCases
    try await store.apply(ChangeBatch(additions: samples))
    for sample in samples {
      let found = try #require(try await store.samples.sample(sample.reference))
      #expect(try found.text() == sample.text())
    }
    var maker = SampleMaker(seed: 2)
    #expect(try await store.samples.sample(maker.steps(at: 0).reference) == nil)
  }

  @Test func negativeZeroIsZero() async throws {
    var maker = SampleMaker(seed: 1)
    var sample = maker.steps(at: 0)
    sample.payload = .quantity(Quantity(-0.0, "count"))
    try await store.add(sample)
    #expect(try await store.samples.sample(sample.reference)?.payload == .quantity(Quantity(0, "count")))
  }

  @Test func textsThatUnicodeHoldsEqualKeepTheirBytes() async throws {
    var maker = SampleMaker(seed: 1)
    let samples = ["Ren\u{E9}", "Rene\u{301}", "Ren\u{E9}"].enumerated().map { minute, name in
      var sample = maker.steps(at: minute)
      sample.type = SampleType(name)
      sample.source.name = name
      sample.device = Device(name: name)
      sample.payload = .quantity(Quantity(1, name))
      return sample
    }
    try await store.apply(ChangeBatch(additions: samples))
    try await expectKept(samples)
  }

  @Test func typesDifferByWhatFollowsANUL() async throws {
    var maker = SampleMaker(seed: 1)
    var samples = [maker.steps(at: 0)]
    samples.append(samples[0])
    samples[0].type = SampleType("a\0b")
    samples[1].type = SampleType("a")
    let summary = try await store.apply(ChangeBatch(additions: samples))
    #expect(summary.types == [SampleType("a\0b"): .init(added: 1), SampleType("a"): .init(added: 1)])
    for sample in samples {
      #expect(try await store.samples.page(of: sample.type, limit: 9) == [sample])
      #expect(try await store.allChanges(filter: SampleFilter(types: [sample.type])) == [.added(sample)])
    }
    let all = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    #expect(try await store.samples.count(of: samples[0].type, in: all) == 1)
    #expect(try await store.samples.delete(samples[0].type, in: all) == 1)
    #expect(try await store.samples.typeCounts() == [TypeCount(type: samples[1].type, samples: 1)])
  }

  @Test func aSecondInstanceReadsTheSame() async throws {
    let samples = SampleMaker.edgeCases
    try await store.apply(ChangeBatch(additions: samples))
    let other = try fixture.again()
    #expect(other.id == store.id)
    #expect(try await other.contents() == store.contents())
  }
}
