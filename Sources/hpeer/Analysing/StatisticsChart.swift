import HealthAnalysis
import HealthModel
import Terminal

/// The numbers of a type as a chart for a terminal.
struct StatisticsChart {
  let statistics: Statistics
  let zone: ZoneRules

  func print() throws {
    let text = StatisticsText(statistics: statistics, zone: zone)
    defer { text.sayLeftOut() }
    guard let first = statistics.values.first, let last = statistics.values.last else { return }
    // What has no samples has a line all the same, so that it is seen.
    let buckets = try CalendarBuckets(
      statistics.size, in: zone, first.bucket.start..<last.bucket.end, cutsStart: false, cutsEnd: false,
      weekStartsOnSunday: statistics.weekStartsOnSunday)
    let values = Dictionary(
      statistics.values.map { (buckets.index(of: $0.bucket.start), $0.number) }, uniquingKeysWith: { $1 })
    let lines = (0..<buckets.count).map { (label: text.label(buckets[$0]), number: values[$0]) }
    try Console.print(text.heading)
    try Console.print(chart: { width, style, usesUTF8 in
      statistics.aggregation == .cumulative
        ? bars(lines, text).rendered(width: width, style: style, usesUTF8: usesUTF8)
        : bands(lines, text).rendered(width: width, style: style, usesUTF8: usesUTF8, number: text.number)
    })
  }

  private typealias Line = (label: String, number: BucketStatistics.Number?)

  private func bars(_ lines: [Line], _ text: StatisticsText) -> BarChart {
    var chart = BarChart()
    for line in lines {
      guard case .sum(let sum)? = line.number else {
        chart.append(line.label, nil, "")
        continue
      }
      chart.append(line.label, sum.sum, text.number(sum.sum))
    }
    return chart
  }

  private func bands(_ lines: [Line], _ text: StatisticsText) -> BandChart {
    var chart = BandChart()
    for line in lines {
      guard case .discrete(let values)? = line.number else {
        chart.append(line.label, nil, "")
        continue
      }
      chart.append(
        line.label, BandChart.Band(low: values.minimum, dot: values.mean, high: values.maximum),
        text.number(values.mean ?? values.meanOfSamples))
    }
    return chart
  }
}
