import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct Chart: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chart",
    abstract: "Draw the numbers of a type in the terminal.",
    discussion: """
      What is added up has bars; what has a mean has a band from the lowest to the highest with a dot at the mean. A line \
      without anything is a time of which there are no samples. The numbers are those of `hpeer stats`.

      Without --from and --to the last ones are drawn: 24 hours, 30 days, 26 weeks, 24 months, or all years.

      Examples:
        hpeer chart stepCount
        hpeer chart heartRate --by hour --on 2024-06-15
        hpeer chart restingHeartRate --by month
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "A short name (stepCount) or a HealthKit identifier.")
  var type: String
  @Option(help: "How long the stretches of time are of which there is one line each.")
  var by = BucketSize.day
  @OptionGroup var period: PeriodOptions
  @OptionGroup var sources: SourceOptions

  func validate() throws { _ = try SampleType.named(type) }

  func run() async throws {
    let type = try SampleType.named(type)
    let store = try common.homeDirectory.openStoreForReading()
    try await sources.requireKnown(in: store)
    let zone = try ZoneRules(period.zone.timeZone)
    var query = StatisticsQuery(type, by: by, in: zone)
    (query.start, query.end, query.sources) = (period.start, period.end, sources.set)
    if query.start == nil, query.end == nil, let count, let last = try await store.samples.extent(of: type)?.upperBound
    {
      query.start = try CalendarBuckets.start(ofLast: count, by, in: zone, to: last)
    }
    let statistics = try await query.run(on: store)
    try StatisticsChart(statistics: statistics, zone: zone).print()
  }

  /// How many are drawn where no time was named; `nil` for all.
  private var count: Int? {
    switch by {
    case .hour: 24
    case .day: 30
    case .week: 26
    case .month: 24
    case .year: nil
    }
  }
}
