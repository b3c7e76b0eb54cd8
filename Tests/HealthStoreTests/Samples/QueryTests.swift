import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct QueryTests {
  let fixture: StoreFixture
  let samples: [Sample]
  var store: HealthStore { fixture.store }
  private let type = SampleMaker.stepCount

  init() async throws {
    fixture = try StoreFixture()
    var maker = SampleMaker(seed: 1)
    samples = (0..<20).map { maker.steps(at: $0) }
    var other = maker.steps(at: 3)
    other.type = SampleType("a.type.of.tomorrow")
    try await fixture.store.apply(ChangeBatch(additions: samples.shuffled(using: &maker.random) + [other]))
  }

  @Test(arguments: [1, 3, 20, 21])
  func pagesGoFromTheNewestToTheOldest(limit: Int) async throws {
    var read: [Sample] = []
    while true {
      let page = try await store.samples.page(of: type, offset: read.count, limit: limit)
      if page.isEmpty { break }
      #expect(page.count <= limit)
      read += page
    }
    #expect(read == samples.reversed())
  }

  @Test func samplesOfOneInstantHaveAnOrder() async throws {
    var maker = SampleMaker(seed: 2)
    let twins = (0..<10).map { _ in maker.steps(at: 100) }
    try await store.apply(ChangeBatch(additions: twins))
    let whole = try await store.samples.page(of: type, limit: 10)
    var parts: [Sample] = []
    for offset in 0..<10 { parts += try await store.samples.page(of: type, offset: offset, limit: 1) }
    #expect(parts == whole)
    #expect(Set(whole) == Set(twins))
  }

  @Test func aRangeHoldsItsLowerBoundOnly() async throws {
    let range = samples[4].start..<samples[8].start
    #expect(try await store.samples.page(of: type, in: range, limit: 100) == samples[4..<8].reversed())
    #expect(try await store.samples.page(of: type, in: range, offset: 1, limit: 2) == [samples[6], samples[5]])
    #expect(try await store.samples.count(of: type, in: range) == 4)
    #expect(try await store.samples.count(of: type, in: nil) == store.samples.page(of: type, limit: 1_000).count)
  }

  @Test func codedSamplesAreTheSame() async throws {
    var maker = SampleMaker(seed: 3)
    let all = maker.samples(300)
    try await store.apply(ChangeBatch(additions: all))
    for type in Set(all.map(\.type)) {
      for range in [nil, samples[4].start..<Timestamp(microseconds: .max), samples[4].start..<samples[4].start] {
        for (offset, limit) in [(0, 100), (2, 5)] {
          let before = try await store.samples.page(of: type, in: range, limit: offset)
          let coded = try await store.samples.codedPage(
            of: type, in: range, after: before.last?.reference, limit: limit)
          let expander = try ChangeExpander(coded)
          let expected = try await store.samples.page(of: type, in: range, offset: offset, limit: limit)
          #expect(try coded.samples.map { try expander.sample($0).text() } == expected.map { try $0.text() })
        }
      }
    }
  }

  @Test func anEmptyRangeHoldsNothing() async throws {
    for instant in [Timestamp(microseconds: .min), samples[4].start, Timestamp(microseconds: .max)] {
      #expect(try await store.samples.page(of: type, in: instant..<instant, limit: 100) == [])
    }
  }

  @Test func theWidestRangeIsEverything() async throws {
    let range = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    #expect(try await store.samples.page(of: type, in: range, limit: 100).count == 20)
  }

  @Test func anUnknownTypeHasNothing() async throws {
    let type = SampleType("never seen")
    #expect(try await store.samples.page(of: type, limit: 100) == [])
    #expect(try await store.samples.extent(of: type) == nil)
    #expect(try await store.samples.typeCounts(SampleFilter(types: [type])) == [])
  }

  @Test func theExtentIsFromFirstToLastStart() async throws {
    #expect(try await store.samples.extent(of: type) == samples[0].start...samples[19].start)
    try await store.delete(samples[0], samples[19])
    #expect(try await store.samples.extent(of: type) == samples[1].start...samples[18].start)
    _ = try await store.samples.delete(type, in: samples[0].start..<samples[19].start)
    #expect(try await store.samples.extent(of: type) == nil)
  }

  @Test func countsPassTheFilter() async throws {
    let tomorrow = SampleType("a.type.of.tomorrow")
    let all = [TypeCount(type: type, samples: 20), TypeCount(type: tomorrow, samples: 1)]
    #expect(try await store.samples.typeCounts() == all)
    #expect(try await store.samples.typeCounts(.everything) == all)
    #expect(try await store.samples.typeCounts(SampleFilter(types: [tomorrow])) == [all[1]])
    #expect(try await store.samples.typeCounts(SampleFilter(types: [])) == [])
    #expect(
      try await store.samples.typeCounts(SampleFilter(earliest: samples[15].start)) == [
        TypeCount(type: type, samples: 5)
      ])
    #expect(
      try await store.samples.typeCounts(SampleFilter(types: [tomorrow], earliest: samples[3].start)) == [all[1]])
  }
}
