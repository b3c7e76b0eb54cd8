import Testing

@testable import Terminal

@Suite struct ProgressLineTests {
  private let line = ProgressLine(
    label: "Pulling", items: 504_331, totalItems: 1_204_331, bytes: 12_400_000, itemsPerSecond: 184_200)

  @Test func aWideWindowShowsEverything() {
    #expect(
      line.rendered(columns: 120)
        == "Pulling  ████████████░░░░░░░░░░░░░░░░░░   41%  504,331/1,204,331  12.4 MB  184,200/s  0:04 left")
  }

  @Test func theBarTakesWhatIsLeft() {
    #expect(
      line.rendered(columns: 80) == "Pulling  █████░░░░░░░░░   41%  504,331/1,204,331  12.4 MB  184,200/s  0:04 left")
    #expect(DisplayWidth.of(line.rendered(columns: 80)) == 79)
  }

  @Test(arguments: [
    (72, "Pulling  ██████░░░░░░░░░   41%  504,331/1,204,331  184,200/s  0:04 left"),
    (60, "Pulling   41%  504,331/1,204,331  184,200/s  0:04 left"),
    (30, "Pulling   41%  184,200/s"),
    (8, "Pulling"),
    (5, "Pul…"),
    (0, ""),
  ])
  func aNarrowWindowShowsLess(_ columns: Int, _ expected: String) {
    #expect(line.rendered(columns: columns) == expected)
  }

  @Test(arguments: 0...130)
  func noWindowIsEverOverrun(_ columns: Int) {
    #expect(DisplayWidth.of(line.rendered(columns: columns)) <= max(0, columns - 1))
    #expect(DisplayWidth.of(line.rendered(columns: columns, usesUTF8: false)) <= max(0, columns - 1))
  }

  @Test func withoutUTF8TheBarIsASCII() {
    #expect(
      line.rendered(columns: 72, usesUTF8: false)
        == "Pulling  [#####........]   41%  504,331/1,204,331  184,200/s  0:04 left")
  }

  @Test func withoutATotalThereIsNothingToFill() {
    let line = ProgressLine(label: "Importing", items: 5000, itemsPerSecond: 12.3)
    #expect(line.rendered(columns: 80) == "Importing  5,000  12/s")
  }

  @Test func withATotalOfBytesAloneTheBarGoesByBytes() {
    let line = ProgressLine(
      label: "import", items: 5000, bytes: 250_000_000, totalBytes: 1_000_000_000, itemsPerSecond: 1234,
      bytesPerSecond: 50_000_000)
    #expect(line.rendered(columns: 72) == "import  █████░░░░░░░░░░░░░░░░░   25%  5,000  250 MB  1,234/s  0:15 left")
  }

  @Test func whatCountsBytesOnlySaysNothingOfItems() {
    let line = ProgressLine(
      label: "checking", bytes: 250_000_000, totalBytes: 1_000_000_000, itemsPerSecond: 0, bytesPerSecond: 50_000_000)
    #expect(line.rendered(columns: 72) == "checking  ███████░░░░░░░░░░░░░░░░░░░░░░░   25%  250 MB  0:15 left")
  }

  @Test func moreThanTheTotalIsFullNotOverfull() {
    let line = ProgressLine(label: "Pulling", items: 30, totalItems: 20, itemsPerSecond: 10)
    #expect(
      line.rendered(columns: 80) == "Pulling  ██████████████████████████████  100%  30/20  10/s  0:00 left")
  }

  @Test func nothingToDoIsDone() {
    #expect(ProgressLine(label: "Pulling", totalItems: 0).rendered(columns: 32) == "Pulling  ███████████  100%  0/0")
  }

  @Test func aStalledTransferForecastsNothing() {
    let line = ProgressLine(label: "Pulling", items: 1, totalItems: 1_000_000, itemsPerSecond: 0.01)
    #expect(!line.rendered(columns: 120).contains("left"))
  }

  @Test func coloursDoNotChangeTheWidth() {
    let painted = line.rendered(columns: 80, style: Style(isEnabled: true))
    #expect(painted.replacing(/\u{1b}\[[0-9]+m/, with: "") == line.rendered(columns: 80))
    #expect(painted.contains("\u{1b}[32m█████\u{1b}[39m"))
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
