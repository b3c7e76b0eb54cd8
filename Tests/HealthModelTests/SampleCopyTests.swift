import Foundation
import Testing
import TestSupport

@testable import HealthModel

/// Tests that copies of a sample are merged to the same result in any order.
@Suite struct SampleCopyTests {
  @Test func theOrderOfMergingDoesNotMatter() throws {
    var random = SeededGenerator(seed: 5)
    var maker = SampleMaker(seed: 5)
    for _ in 0..<300 {
      let sample = maker.steps(at: 1)
      let copies = (0..<4).map { _ in copy(of: sample, &random) }
      let expected = try merged(copies)
      for _ in 0..<6 { #expect(try merged(copies.shuffled(using: &random)) == expected) }
      // Nothing changes that was met before.
      for one in copies { #expect(try expected.merged(with: one) == expected) }
    }
  }

  private func merged(_ copies: [SampleCopy]) throws -> SampleCopy {
    try copies.dropFirst().reduce(copies[0]) { try $0.merged(with: $1) }
  }

  private func copy(of sample: Sample, _ random: inout SeededGenerator) -> SampleCopy {
    var sample = sample
    if random.oneIn(2) { sample.metadata["HKWasUserEntered"] = .bool(random.oneIn(2)) }
    if random.oneIn(2) { sample.device = Device(name: random.pick(["Watch", "Phone"])) }
    if random.oneIn(2) {
      sample.payload = .correlation(
        Correlation(
          members: (0..<Int.random(in: 0...2, using: &random)).map { _ in sample.reference },
          isPartial: random.oneIn(2)))
    }
    let offset: Int64 = random.pick([0, 1, 250_000, 250_001, 900_000])
    sample.start.microseconds += offset
    sample.end.microseconds += random.pick([offset, 0])
    return SampleCopy(sample, road: random.pick(SampleRoad.allCases))
  }

  @Test func theOneThatSaysMoreIsKept() throws {
    for (text, leaves) in [
      ("{}", 0), ("[]", 0), ("1", 1), (#""a""#, 1), (#"{"a":"b"}"#, 1),
      (#"{"a":[1,-2.5e-7,true,null,false],"b":{}}"#, 5),
      (#"{"\\":"\\","\"":"{[,:\"","x":[[],["",{"y":""}]]}"#, 4), (#"["é","😴"]"#, 2),
    ] {
      #expect(CanonicalJSON.leafCount(of: text) == leaves, "\(text)")
    }
    var maker = SampleMaker(seed: 2)
    let less = maker.steps(at: 1)
    var more = less
    more.metadata["HKWasUserEntered"] = .bool(true)
    #expect(try SampleCopy(less, road: .appleExport).merged(with: SampleCopy(more, road: .appleExport)).sample == more)
  }

  @Test func aWholeCopyOfAPoorRoadIsBetterThanAPartialOne() throws {
    var maker = SampleMaker(seed: 1)
    var (whole, partial) = (maker.steps(at: 1), maker.steps(at: 1))
    partial.uuid = whole.uuid
    whole.payload = .correlation(Correlation(members: [whole.reference]))
    partial.payload = .correlation(Correlation(members: [], isPartial: true))
    let kept = SampleCopy(whole, road: .healthAutoExport)
    #expect(try kept.merged(with: SampleCopy(partial, road: .appleExport)).sample.payload == whole.payload)
  }
}
