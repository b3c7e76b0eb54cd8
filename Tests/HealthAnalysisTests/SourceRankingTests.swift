import HealthModel
import Testing

@testable import HealthAnalysis

@Suite struct SourceRankingTests {
  private static let watch = Device(name: "Apple Watch", model: "Watch", softwareVersion: "10.5")
  private static let phone = Device(name: "iPhone", model: "iPhone", softwareVersion: "17.5")

  private static func source(
    _ id: Int64, _ name: String, first: Int64, bundle: String? = nil, version: String? = nil,
    devices: [Device?: Int] = [:]
  ) -> SourceEvidence {
    SourceEvidence(
      id: id, source: Source(name: name, bundleIdentifier: bundle, version: version), first: Timestamp(seconds: first),
      devices: devices)
  }

  @Test func watchesPhonesAppsAndTheNewestOfEach() {
    let ranking = SourceRanking([
      Self.source(1, "Old app", first: 1),
      Self.source(2, "iPhone", first: 2, version: "17.5", devices: [Self.phone: 10]),
      Self.source(3, "Old watch", first: 3, version: "10.5", devices: [Self.watch: 10]),
      Self.source(4, "New watch", first: 4, version: "10.5", devices: [Self.watch: 10]),
      Self.source(5, "New app", first: 5),
    ])
    #expect(ranking.sources.map(\.name) == ["manual", "New watch", "Old watch", "iPhone", "New app", "Old app"])
    #expect((1...5).map { ranking.rank(of: $0, isUserEntered: false) } == [5, 3, 2, 1, 4])
    #expect(ranking.rank(of: 5, isUserEntered: true) == 0)
  }

  @Test func equalFirstsGoByName() {
    let ranking = SourceRanking([Self.source(1, "b", first: 1), Self.source(2, "a", first: 1)])
    #expect(ranking.sources.map(\.name) == ["manual", "a", "b"])
  }

  @Test func anAppThatRunsOnAPhoneIsAnApp() {
    let ranking = SourceRanking([
      Self.source(1, "Pedometer", first: 9, version: "3.2", devices: [Self.phone: 100]),
      Self.source(2, "iPhone", first: 1, version: "17.5", devices: [Self.phone: 100]),
    ])
    #expect(ranking.sources.map(\.sourceClass) == [.manual, .phone, .app])
    #expect(ranking.sources.map(\.name) == ["manual", "iPhone", "Pedometer"])
  }

  @Test func bundleIdentifiersTellApplesOwn() {
    let ranking = SourceRanking([
      Self.source(1, "Kim’s Apple Watch", first: 1, bundle: "com.apple.health.A"),
      Self.source(2, "Kim’s iPhone", first: 2, bundle: "com.apple.health.B"),
      Self.source(3, "Runner", first: 3, bundle: "com.example.runner", devices: [Self.watch: 5]),
    ])
    #expect(ranking.sources.map(\.sourceClass) == [.manual, .watch, .phone, .app])
  }

  /// An export has only the source's name, the phone's app has name and bundle identifier, and a newer export has a
  /// new name.
  @Test func namesAndBundleIdentifiersThatOccurTogetherAreOneSource() {
    let ranking = SourceRanking([
      Self.source(1, "Watch", first: 1, version: "10.5", devices: [Self.watch: 5]),
      Self.source(2, "New name", first: 7, bundle: "com.apple.health.A"),
      Self.source(3, "Watch", first: 3, bundle: "com.apple.health.A"),
      Self.source(4, "App", first: 2),
    ])
    #expect(ranking.sources.map(\.name) == ["manual", "New name", "App"])
    #expect(ranking.sources.map(\.sourceClass) == [.manual, .watch, .app])
    #expect(ranking.sources[1].first == Timestamp(seconds: 1))
    #expect([1, 2, 3].allSatisfy { ranking.rank(of: $0, isUserEntered: false) == 1 })
  }

  @Test func theOneThatWasChosenComesFirst() {
    let evidence = [
      Self.source(1, "Watch", first: 1, bundle: "com.apple.health.A"), Self.source(2, "Old app", first: 2),
      Self.source(3, "New name", first: 3, bundle: "com.example.b"),
      Self.source(4, "App", first: 4, bundle: "com.example.b"),
    ]
    // Under any of its names.
    let ranking = SourceRanking(evidence, first: "New name")
    #expect(ranking.sources.map(\.name) == ["App", "manual", "Watch", "Old app"])
    #expect(ranking.sources.map(\.isChosen) == [true, false, false, false])
    #expect((1...5).map { ranking.rank(of: $0, isUserEntered: false) } == [2, 3, 0, 0, 3])
    #expect(ranking.rank(of: 3, isUserEntered: true) == 1)
    // One that is not there changes nothing.
    #expect(SourceRanking(evidence, first: "Gone").sources == SourceRanking(evidence).sources)
    #expect(SourceRanking(evidence, first: "manual").rank(of: 1, isUserEntered: true) == 0)
  }
}
