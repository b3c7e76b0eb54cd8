import Testing

@testable import HealthStore

/// Tests of which simultaneous names belong to the same source.
@Suite struct RenamedSourcesTests {
  private typealias Bearer = RenamedSources.Bearer

  private func exported(_ name: UInt32, _ classes: Set<Int> = [0]) -> Bearer {
    Bearer(name: name, family: .export, classes: classes)
  }

  private func told(_ name: UInt32, _ classes: Set<Int> = [0]) -> Bearer {
    Bearer(name: name, family: .healthKit, classes: classes)
  }

  @Test func oneOnEachSideIsOne() {
    #expect(RenamedSources.representatives(among: [exported(1), told(2)]) == [1: 1, 2: 1])
    #expect(RenamedSources.representatives(among: [told(1), told(1), exported(2), exported(2)]) == [1: 2, 2: 2])
    // Beside one that both know.
    #expect(
      RenamedSources.representatives(among: [exported(1), told(2), exported(3), told(3)]) == [1: 1, 2: 1])
  }

  @Test func whatARoadTellsOfBothIsTwo() {
    #expect(RenamedSources.representatives(among: [exported(1), exported(2)]).isEmpty)
    #expect(RenamedSources.representatives(among: [told(1), told(2)]).isEmpty)
    #expect(RenamedSources.representatives(among: [exported(1), exported(2), told(2)]).isEmpty)
    #expect(RenamedSources.representatives(among: [exported(1), told(1), told(2)]).isEmpty)
  }

  @Test func moreOnOneSideAreNotGuessedAt() {
    #expect(RenamedSources.representatives(among: [exported(1), told(2), told(3)]).isEmpty)
    #expect(RenamedSources.representatives(among: [exported(1), exported(2), told(3)]).isEmpty)
    #expect(
      RenamedSources.representatives(among: [exported(1), exported(2), told(3), told(4)]) == [1: 1, 2: 1, 3: 1, 4: 1])
    #expect(
      RenamedSources.representatives(among: (0..<40).map { $0 < 20 ? exported($0) : told($0) }).isEmpty)
  }

  @Test func onlyEqualSamplesTell() {
    #expect(RenamedSources.representatives(among: [exported(1, [0]), told(2, [1])]).isEmpty)
    #expect(
      RenamedSources.representatives(among: [exported(1, [0]), exported(2, [1]), told(3, [0]), told(4, [1])])
        == [1: 1, 3: 1, 2: 2, 4: 2])
    // The third says what both of the others say.
    #expect(
      RenamedSources.representatives(among: [exported(1, [0]), exported(2, [1]), told(3, [0]), told(3, [1])]).isEmpty)
    #expect(RenamedSources.representatives(among: [exported(1, [0, 1]), told(2, []), told(3, [1])]) == [1: 1, 3: 1])
  }

  @Test func whatIsSummedUpTellsNothing() {
    let summed = Bearer(name: 2, family: .autoExport, classes: [0])
    #expect(RenamedSources.representatives(among: [exported(1), summed]).isEmpty)
    #expect(RenamedSources.representatives(among: [exported(1), told(3), summed]) == [1: 1, 3: 1])
  }
}
