import Testing

@testable import Terminal

@Suite struct ProgressLineTests {
  private let line = ProgressLine(
    label: "Pulling", items: 504_331, totalItems: 1_204_331, bytes: 12_400_000, itemsPerSecond: 184_200)

  @Test func aWideWindowShowsEverything() {
    #expect(
      line.rendered(columns: 120)
        == "Pulling  ████████████░░░░░░░░░░░░░░░░░░   41%    504,331/1,204,331  12.4 MB  184,200/s   0:04 left")
  }

  @Test func theBarTakesWhatIsLeft() {
    #expect(
      line.rendered(columns: 80)
        == "Pulling  ███████░░░░░░░░░░░   41%    504,331/1,204,331  184,200/s   0:04 left")
    // An echoed ^C does not reach the last column.
    #expect(DisplayWidth.of(line.rendered(columns: 80) + "^C") == 79)
  }

  @Test(arguments: [
    (72, "Pulling  ████░░░░░░   41%    504,331/1,204,331  184,200/s   0:04 left"),
    (60, "Pulling   41%    504,331/1,204,331  184,200/s   0:04 left"),
    (30, "Pulling   41%  184,200/s"),
    (10, "Pulling"),
    (7, "Pul…"),
    (0, ""),
  ])
  func aNarrowWindowShowsLess(_ columns: Int, _ expected: String) {
    #expect(line.rendered(columns: columns) == expected)
  }

  @Test(arguments: 0...130)
  func noWindowIsEverOverrun(_ columns: Int) {
    #expect(DisplayWidth.of(line.rendered(columns: columns)) <= max(0, columns - 3))
    #expect(DisplayWidth.of(line.rendered(columns: columns, usesUTF8: false)) <= max(0, columns - 3))
  }

  @Test func withoutUTF8TheBarIsASCII() {
    #expect(
      line.rendered(columns: 72, usesUTF8: false)
        == "Pulling  [###.....]   41%    504,331/1,204,331  184,200/s   0:04 left")
  }

  @Test func withoutATotalThereIsNothingToFill() {
    let line = ProgressLine(label: "Importing", items: 5000, itemsPerSecond: 12.3)
    #expect(line.rendered(columns: 80) == "Importing      5,000       12/s")
  }

  @Test func withATotalOfBytesAloneTheBarGoesByBytes() {
    let line = ProgressLine(
      label: "import", items: 5000, bytes: 250_000_000, totalBytes: 1_000_000_000, itemsPerSecond: 1234,
      bytesPerSecond: 50_000_000)
    #expect(line.rendered(columns: 72) == "import  ███░░░░░░░░░   25%      5,000   250 MB    1,234/s   0:15 left")
  }

  @Test func whatCountsBytesOnlySaysNothingOfItems() {
    let line = ProgressLine(
      label: "checking", bytes: 250_000_000, totalBytes: 1_000_000_000, itemsPerSecond: 0, bytesPerSecond: 50_000_000)
    #expect(line.rendered(columns: 72) == "checking  ███████░░░░░░░░░░░░░░░░░░░░░░░   25%   250 MB   0:15 left")
  }

  @Test func moreThanTheTotalIsFullNotOverfull() {
    let line = ProgressLine(label: "Pulling", items: 30, totalItems: 20, itemsPerSecond: 10)
    #expect(
      line.rendered(columns: 80) == "Pulling  ██████████████████████████████  100%  30/20       10/s   0:00 left")
  }

  @Test func nothingToDoIsDone() {
    #expect(ProgressLine(label: "Pulling", totalItems: 0).rendered(columns: 60) == "Pulling  ██████████████  100%  0/0")
  }

  @Test func aStalledTransferForecastsNothing() {
    let line = ProgressLine(label: "Pulling", items: 1, totalItems: 1_000_000, itemsPerSecond: 0.01)
    #expect(!line.rendered(columns: 120).contains("left"))
  }

  @Test func whatHasNoRateYetShowsNone() {
    for rate in [nil, 0, 0.04, .nan] {
      let line = ProgressLine(label: "Pulling", items: 0, totalItems: 1000, itemsPerSecond: rate)
      #expect(line.rendered(columns: 80) == "Pulling  ░░░░░░░░░░░░░░░░░░░░░░░░░░    0%      0/1,000")
    }
  }

  @Test func everythingKeepsItsPlaceWhileTheNumbersGrow() {
    var places: Set<[Int]> = []
    for done in stride(from: 1, through: 1_204_331, by: 7919) {
      let rate = Double(done % 190_000)
      let line = ProgressLine(
        label: "Pulling", items: done, totalItems: 1_204_331, bytes: done * 11, itemsPerSecond: done < 9000 ? nil : rate
      )
      let text = Array(line.rendered(columns: 120))
      places.insert([text.firstIndex(of: "%") ?? 0, text.firstIndex(of: "/") ?? 0, text.firstIndex(of: "B") ?? 0])
      if let rate = text.lastIndex(of: "/"), text[rate + 1] == "s" { #expect(rate == 84) }
    }
    #expect(places == [[44, 56, 74]])
  }

  @Test(arguments: [
    (120, "  12.4 MB  waiting 0:12 of 0:30"), (72, "1,204,331  waiting 0:12 of 0:30"),
    (60, "1,204,331  waiting 0:12 of 0:30"), (47, "41%    504,331/1,204,331  waiting"), (29, "41%  waiting"),
    (30, "41%  waiting 0:12"), (16, "Pulling   41%"),
  ])
  func silenceIsCountedInPlaceOfAForecast(_ columns: Int, _ ending: String) {
    var line = line
    (line.silence, line.patience) = (.milliseconds(12_900), .seconds(30))
    let text = line.rendered(columns: columns)
    #expect(text.hasSuffix(ending), "\(text)")
    #expect(!text.contains("/s") && !text.contains("left"))
    line.patience = nil
    #expect(line.rendered(columns: 120).hasSuffix("  waiting 0:12"))
  }

  @Test(arguments: 0...130)
  func silenceOverrunsNoWindow(_ columns: Int) {
    var line = line
    (line.silence, line.patience) = (.seconds(4000), .seconds(3600))
    #expect(DisplayWidth.of(line.rendered(columns: columns)) <= max(0, columns - 3))
  }

  @Test func silenceMovesNothing() {
    var quiet = line
    quiet.silence = .seconds(5)
    let (before, after) = (line.rendered(columns: 120), quiet.rendered(columns: 120))
    let common = zip(before, after).prefix { $0 == $1 }.map { String($0.0) }.joined()
    #expect(common.hasSuffix("12.4 MB  "))
  }

  @Test func coloursDoNotChangeTheWidth() {
    let painted = line.rendered(columns: 80, style: Style(isEnabled: true))
    #expect(painted.replacing(/\u{1b}\[[0-9]+m/, with: "") == line.rendered(columns: 80))
    #expect(painted.contains("\u{1b}[32m███████\u{1b}[39m"))
  }
}

@Suite struct RateEstimatorTests {
  @Test func aSteadyRateIsReadRightFromTheStart() throws {
    var estimator = RateEstimator(seconds: 10)
    #expect(estimator.perSecond == nil)
    for step in 1...50 {
      estimator.record(count: step * 100, seconds: 10 + Double(step) / 10)
      let rate = try #require(estimator.perSecond)
      #expect(abs(rate - 1000) < 0.001)
    }
  }

  @Test func aStallLetsTheRateFall() throws {
    var estimator = RateEstimator(seconds: 0)
    estimator.record(count: 1000, seconds: 1)
    estimator.record(count: 1000, seconds: 10)
    #expect(try #require(estimator.perSecond) < 60)
  }

  @Test func aBurstIsSmoothed() throws {
    var estimator = RateEstimator(seconds: 0)
    estimator.record(count: 10_000, seconds: 10)
    estimator.record(count: 20_000, seconds: 10.1)
    let rate = try #require(estimator.perSecond)
    #expect(rate > 1000 && rate < 6000)
  }

  @Test func timeThatStandsStillChangesNothing() {
    var estimator = RateEstimator(seconds: 1)
    estimator.record(count: 10, seconds: 1)
    #expect(estimator.perSecond == nil)
  }
}
