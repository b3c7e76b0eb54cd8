import Testing
import TestSupport

@testable import HealthStore

@Suite struct ChangeNumbersTests {
  /// The numbers include whole blocks, block boundaries, and single numbers far apart.
  @Test func holdsWhatASetHolds() {
    var random = SeededGenerator(seed: 7)
    var (numbers, set) = (ChangeNumbers(), Set<Int64>())
    numbers.insert(1...200_000)
    set.formUnion(1...200_000)
    for _ in 0..<20_000 {
      let number = Int64.random(in: 0..<1_000_000, using: &random)
      #expect(numbers.contains(number) == set.contains(number))
      #expect(numbers.insert(number) == set.insert(number).inserted)
    }
    #expect([65_535, 65_536, 131_072, 10_000_000].allSatisfy { numbers.contains($0) == set.contains($0) })

    var (others, otherSet) = (ChangeNumbers(), Set<Int64>())
    others.insert(60_000...140_000)
    otherSet.formUnion(60_000...140_000)
    var (left, right) = ([Int64](), [Int64]())
    numbers.forEach(notIn: others) { left.append($0) }
    others.forEach(notIn: numbers) { right.append($0) }
    #expect(left == set.subtracting(otherSet).sorted())
    #expect(right.isEmpty)
  }

  @Test func anEmptySetHasNothing() {
    let numbers = ChangeNumbers()
    #expect(!numbers.contains(0))
    #expect(!numbers.contains(-1))
    numbers.forEach(notIn: numbers) { Issue.record("\($0) is in") }
  }
}
