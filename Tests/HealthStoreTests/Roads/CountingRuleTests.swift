import Foundation
import Testing
import TestSupport

@testable import HealthStore

/// Tests of the rule alone, with random groups.
@Suite struct CountingRuleTests {
  private typealias Family = CountingRule.Family

  private func shown(
    _ classes: [[Family]], deleted: [Family], _ random: inout SeededGenerator
  ) -> [Int] {
    let members = classes.enumerated().flatMap { number, families in
      families.map { CountingRule.Member(uuid: UUID(), family: $0, valueClass: number, hints: nil) }
    }.shuffled(using: &random)
    let hidden = CountingRule(deleted.map { .init(family: $0, hint: nil) }).hidden(members)
    return classes.indices.map { number in
      members.indices.count { members[$0].valueClass == number && !hidden.contains($0) }
    }
  }

  /// The rule's formula holds for a single class.
  @Test func oneClassIsCounted() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2_000 {
      let held = (0..<Int.random(in: 1...6, using: &random)).map { _ in random.pick(Family.allCases) }
      let deleted = (0..<Int.random(in: 0...4, using: &random)).map { _ in random.pick(Family.allCases) }
      func count(_ families: [Family], _ family: Family) -> Int { families.count { $0 == family } }
      let ever = Family.allCases.map { count(held, $0) + count(deleted, $0) }.max() ?? 0
      let gone = Family.allCases.map { count(deleted, $0) }.max() ?? 0
      #expect(shown([held], deleted: deleted, &random) == [max(0, ever - gone)])
    }
  }

  /// The number of hidden samples in several classes never exceeds the number of deletions that justify it.
  @Test func noDeletionHidesTwo() {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<2_000 {
      let classes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        (0..<Int.random(in: 1...3, using: &random)).map { _ in random.pick(Family.allCases) }
      }
      let deleted = (0..<Int.random(in: 0...4, using: &random)).map { _ in random.pick(Family.allCases) }
      let things = classes.map { held in Family.allCases.map { family in held.count { $0 == family } }.max() ?? 0 }
      let shown = shown(classes, deleted: deleted, &random)
      #expect(zip(shown, things).allSatisfy { $0 <= $1 })
      #expect(zip(things, shown).reduce(0) { $0 + $1.0 - $1.1 } <= deleted.count)
    }
  }

  @Test func aDoubtfulDeletionHidesNothing() {
    var random = SeededGenerator(seed: 3)
    #expect(shown([[.export], [.export]], deleted: [.healthKit], &random) == [1, 1])
    #expect(shown([[.export], [.export]], deleted: [.healthKit, .healthKit], &random) == [0, 0])
    #expect(shown([[.export, .healthKit], [.export]], deleted: [.healthKit], &random) == [1, 0])
    #expect(shown([[.export], [.healthKit]], deleted: [], &random) == [1, 1])
  }

  @Test func aHintSaysWhichWasDeleted() {
    let members = (1...2).map {
      CountingRule.Member(uuid: UUID(), family: .export, valueClass: $0, hints: [UInt8($0)])
    }
    #expect(CountingRule([.init(family: .healthKit, hint: 2)]).hidden(members) == [1])
    #expect(CountingRule([.init(family: .healthKit, hint: 3)]).hidden(members) == [])
    #expect(CountingRule([.init(family: .healthKit, hint: nil)]).hidden(members) == [])
  }
}
