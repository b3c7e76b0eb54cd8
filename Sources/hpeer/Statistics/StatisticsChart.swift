import HealthAnalysis
import HealthModel
import Terminal

/// The numbers of a type as a chart for a terminal.
struct StatisticsChart {
  let statistics: Statistics
  let zone: ZoneRules
  /// The numbers of as many buckets before, for comparison; `nil` for none.
  var before: Statistics?

  /// The maximum number of buckets with a line each. If there are more, they are drawn as a plot.
  private static let mostLines = 100
  private static let plotHeight = 12
  /// The minimum width of a window in which the axis has units. In a narrower one only the heading has them.
  private static let wide = 60

  private typealias Line = (label: String, number: BucketStatistics.Number?, before: BucketStatistics.Number?)

  func print() throws {
    let text = StatisticsText(statistics: statistics, zone: zone)
    defer { text.sayLeftOut() }
    guard let first = statistics.values.first, let last = statistics.values.last else { return }
    // A bucket without samples gets a line as well, so that the gap is seen.
    let buckets = try CalendarBuckets(
      statistics.size, in: zone, first.bucket.start..<last.bucket.end, cutsStart: false, cutsEnd: false,
      weekStartsOnSunday: statistics.weekStartsOnSunday)
    try Console.print(text.heading)
    if buckets.count > Self.mostLines {
      return try plot(text, from: text.label(buckets[0]), to: text.label(buckets[buckets.count - 1]))
    }
    let lines = try lines(buckets, text)
    try Console.print(chart: { width, style, usesUTF8 in
      let axis = width < Self.wide ? text.number : text.withUnit
      return statistics.aggregation == .cumulative
        ? bars(lines, text).rendered(width: width, style: style, usesUTF8: usesUTF8, axis: axis)
        : bands(lines, text).rendered(width: width, style: style, usesUTF8: usesUTF8, number: axis)
    })
  }

  private func lines(_ buckets: CalendarBuckets, _ text: StatisticsText) throws -> [Line] {
    let values = Dictionary(
      statistics.values.map { (buckets.index(of: $0.bucket.start), $0.number) }, uniquingKeysWith: { $1 })
    let earlier = try before.map { try numbers($0, before: buckets[0].start, buckets.count) } ?? []
    return (0..<buckets.count).map { index in
      (text.label(buckets[index]), values[index] ?? nil, index < earlier.count ? earlier[index] : nil)
    }
  }

  /// Returns the numbers of `count` buckets, the last of which ends where the first one of the chart begins.
  private func numbers(
    _ before: Statistics, before start: Timestamp, _ count: Int
  ) throws -> [BucketStatistics.Number?] {
    let end = Timestamp(microseconds: start.microseconds - 1)
    let first = try CalendarBuckets.start(ofLast: count, before.size, in: zone, to: end)
    let buckets = try CalendarBuckets(
      before.size, in: zone, first..<start, weekStartsOnSunday: before.weekStartsOnSunday)
    var numbers: [BucketStatistics.Number?] = Array(repeating: nil, count: buckets.count)
    for value in before.values {
      if let index = buckets.index(of: value.bucket.start) { numbers[index] = value.number }
    }
    return numbers
  }

  private func bars(_ lines: [Line], _ text: StatisticsText) -> BarChart {
    var chart = BarChart()
    for line in lines {
      let value = line.number?.representative
      chart.append(line.label, value, value.map(text.number) ?? "", mark: line.before?.representative)
    }
    return chart
  }

  private func bands(_ lines: [Line], _ text: StatisticsText) -> BandChart {
    var chart = BandChart()
    for line in lines {
      guard case .discrete(let values)? = line.number else {
        chart.append(line.label, nil, "", mark: line.before?.representative)
        continue
      }
      chart.append(
        line.label, BandChart.Band(low: values.minimum, dot: values.mean, high: values.maximum),
        text.number(values.mean ?? values.meanOfSamples), mark: line.before?.representative)
    }
    return chart
  }

  private func plot(_ text: StatisticsText, from first: String, to last: String) throws {
    let points = statistics.values.map {
      DotPlot.Point(x: Double($0.bucket.start.seconds), y: $0.number.representative)
    }
    try Console.print(chart: { width, style, usesUTF8 in
      DotPlot(points).rendered(
        width: width, height: Self.plotHeight, style: style, usesUTF8: usesUTF8, from: first, to: last,
        number: text.withUnit)
    })
  }
}
