import Foundation
import HealthAnalysis
import HealthModel

/// A report as a self-contained HTML page, without scripts, other files or network access: two A4 pages in print.
struct ReportPage {
  let content: ReportContent

  /// The maximum number of blood pressure readings listed; the means include all.
  private static let listedPressures = 16
  private static let listedWorkouts = 6
  /// The number of values in the running median of a line.
  private static let smoothedDays = 7

  func html() -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width">
    <meta name="referrer" content="no-referrer">
    <title>Health report, \(date(content.days.lowerBound)) to \(date(content.days.upperBound))</title>
    <style>
    \(ReportStyle.css)
    </style>
    </head>
    <body>
    <section class="page">
    \(header)
    \(content.isEmpty ? nothing : [overview, pressure, course(of: "RestingHeartRate")].joined())
    </section>
    <section class="page">
    \([course(of: "BodyMass"), sleep, activity, workouts, electrocardiograms].joined())
    \(footer)
    </section>
    </body>
    </html>

    """
  }

  // MARK: Head and foot

  private var header: String {
    let traits = Person.Trait.allCases.compactMap { trait -> String? in
      guard let value = content.person[trait], !value.hasSuffix("NotSet") else { return nil }
      let text = value.replacing("HKBiologicalSex", with: "").replacing("HKBloodType", with: "")
        .replacing("Positive", with: "+").replacing("Negative", with: "−")
      return switch trait {
      case .dateOfBirth: "born \(HTMLText.escaped(text))"
      case .biologicalSex: HTMLText.escaped(text.lowercased())
      case .bloodType: "blood type \(HTMLText.escaped(text))"
      }
    }
    let person = traits.isEmpty ? "" : "<p>Person: \(traits.joined(separator: ", ")).</p>"
    return """
      <header><h1>Health report</h1>
      <p>\(date(content.days.lowerBound)) to \(date(content.days.upperBound)) \
      (\(content.days.count) \(content.days.count == 1 ? "day" : "days")), \(HTMLText.escaped(content.zone.name)).</p>
      \(person)</header>
      """
  }

  private var footer: String {
    """
    <footer>Recorded by consumer devices and apps, not by medical staff; a day without data is left out and is not zero. \
    Made on \(HTMLText.escaped(content.zone.date(content.made))) by hpeer.</footer>
    """
  }

  private var nothing: String {
    guard let recorded = content.recorded else { return "<p>The record is empty.</p>" }
    let dates = [recorded.lowerBound, recorded.upperBound].map { HTMLText.escaped(content.zone.date($0)) }
    return
      "<p>Nothing that a report shows was recorded in this time; the record has samples from \(dates[0]) to \(dates[1]).</p>"
  }

  // MARK: Sections

  /// The tables of measurements with their numbers of samples and their sources.
  private var overview: String {
    let names = [
      "RestingHeartRate", "HeartRate", "HeartRateVariabilitySDNN", "OxygenSaturation", "RespiratoryRate",
      "BodyTemperature", "BloodGlucose", "BodyMass", "BodyMassIndex", "BodyFatPercentage", "VO2Max",
    ]
    return section("Measurements", names.compactMap(content.measure)) + section("Other measurements", content.others)
  }

  private func section(_ title: String, _ measures: [ReportContent.Measure]) -> String {
    guard !measures.isEmpty else { return "" }
    let rows = measures.map { measure in
      let days = measure.days.sorted { $0.key < $1.key }
      let middles = days.map(\.value.middle)
      let low = days.map(\.value.low).min() ?? 0
      let high = days.map(\.value.high).max() ?? 0
      let last = days.last
      return row([
        "<th scope=\"row\">\(HTMLText.escaped(measure.name))\(unit(measure))</th>",
        cell(number(middles.reduce(0, +) / Double(middles.count), measure)),
        cell("\(number(low, measure)) – \(number(high, measure))"),
        cell(last.map { number($0.value.last, measure) } ?? ""), cell(last.map { date($0.key) } ?? ""),
        cell("\(measure.days.count)"), cell(HTMLText.number(Double(measure.count), digits: 0)),
        "<td>\(sources(measure.sources))</td>",
      ])
    }
    let head = ["", "Mean of days", "Range", "Last", "on", "Days", "Samples", "Source"]
    return section(title, table(head, rows))
  }

  private var pressure: String {
    guard !content.pressures.isEmpty else { return "" }
    let (systolic, diastolic) = (content.pressures.map(\.systolic), content.pressures.map(\.diastolic))
    func mean(_ values: [Double]) -> String { HTMLText.number(values.reduce(0, +) / Double(values.count), digits: 0) }
    let chart = ReportChart(
      title: "Blood pressure, \(content.pressures.count) readings", days: content.days,
      marks: content.pressures.map { reading in
        let day = content.zone.dayNumber(at: reading.instant.seconds)
        let share = Double(reading.instant.seconds - content.zone.start(ofDay: day)) / 86_400 - 0.5
        return .span(day: Double(day) + share, reading.diastolic, reading.systolic)
      }, date: date)
    let shown = content.pressures.suffix(Self.listedPressures).reversed()
    let readings = shown.map { reading in
      "<li>\(HTMLText.escaped(minute(reading.instant))) <b>\(HTMLText.number(reading.systolic, digits: 0))/"
        + "\(HTMLText.number(reading.diastolic, digits: 0))</b></li>"
    }
    let count = content.pressures.count
    let names = Dictionary(grouping: content.pressures, by: \.source).sorted {
      ($1.value.count, $0.key) < ($0.value.count, $1.key)
    }
    return section(
      "Blood pressure, mmHg",
      "<p>Mean <b>\(mean(systolic))/\(mean(diastolic)) mmHg</b> of \(count) \(count == 1 ? "reading" : "readings"); systolic "
        + "\(range(systolic)), diastolic \(range(diastolic)). Source: \(sources(names.map(\.key))).</p>"
        + (chart.svg() ?? "") + (count > shown.count ? "<p>The last \(shown.count):</p>" : "")
        + "<ul class=\"columns\">\(readings.joined())</ul>")
  }

  /// Returns the chart of a measure day by day.
  private func course(of name: String) -> String {
    guard let measure = content.measure(name), measure.days.count > 1 else { return "" }
    let days = measure.days.sorted { $0.key < $1.key }.map { (day: Double($0.key), value: $0.value.middle) }
    let chart = ReportChart(
      title: "\(measure.name), \(days.count) days", days: content.days,
      marks: Self.unbroken(Self.smoothed(days)).map { .path($0) } + days.map { .dot(day: $0.day, $0.value) },
      number: { number($0, measure) }, date: date)
    return section(
      "\(HTMLText.escaped(measure.name))\(unit(measure))",
      (chart.svg() ?? "")
        + "<p>Each dot is a day, the line the median of \(Self.smoothedDays) of them; \(measure.days.count) of "
        + "\(content.days.count) days. Source: \(sources(measure.sources)).</p>")
  }

  private var sleep: String {
    let nights = content.nights.filter { $0.main.asleep != nil }
    guard !nights.isEmpty else { return "" }
    let hours = nights.map { ($0.main.asleep ?? 0) / 3600 }
    let chart = ReportChart(
      title: "Hours asleep, \(nights.count) nights", days: content.days,
      marks: zip(nights, hours).map { .bar(day: Double($0.day), $1) }, startsAtZero: true, date: date)
    func clock(_ instants: [(instant: Timestamp, day: Int)]) -> String {
      // Local hours since midnight of the night's date.
      let hours = instants.map { one in
        (Double(one.instant.seconds) + Double(content.zone.offset(at: one.instant.seconds)) - Double(one.day) * 86_400)
          / 3600
      }
      guard let median = Quartiles(hours)?.median else { return "–" }
      let minutes = ((Int((median * 60).rounded()) % 1440) + 1440) % 1440
      return "\(minutes / 60 < 10 ? "0" : "")\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    }
    let onsets = nights.compactMap { night in night.main.onset.map { ($0, night.day) } }
    let wakes = nights.compactMap { night in night.main.wake.map { ($0, night.day) } }
    let names = Dictionary(grouping: nights.compactMap(\.main.source)) { $0 }.sorted {
      ($1.value.count, $0.key) < ($0.value.count, $1.key)
    }
    let quartiles = Quartiles(hours)
    return section(
      "Sleep, hours a night",
      "<p>Median <b>\(duration(quartiles?.median ?? 0))</b>, half of all nights from "
        + "\(duration(quartiles?.band.lowerBound ?? 0)) to \(duration(quartiles?.band.upperBound ?? 0)); asleep at "
        + "\(clock(onsets)), awake at \(clock(wakes)) (medians). \(nights.count) of \(content.days.count) nights. Source: "
        + "\(sources(names.map(\.key))).</p>" + (chart.svg() ?? ""))
  }

  private var activity: String {
    let names = ["StepCount", "DistanceWalkingRunning", "AppleExerciseTime", "ActiveEnergyBurned"]
    let measures = names.compactMap(content.measure)
    guard !measures.isEmpty else { return "" }
    let rows = measures.map { measure in
      let values = measure.days.values.map(\.middle)
      let quartiles = Quartiles(Array(values))
      let digits = ["km", "mi"].contains(measure.unit) ? 1 : 0
      return row([
        "<th scope=\"row\">\(HTMLText.escaped(measure.name))\(unit(measure))</th>",
        cell(HTMLText.number(values.reduce(0, +) / Double(values.count), digits: digits)),
        cell(
          quartiles.map {
            [$0.band.lowerBound, $0.band.upperBound].map { HTMLText.number($0, digits: digits) }.joined(
              separator: " – ")
          } ?? ""),
        cell("\(values.count) of \(content.days.count)"),
        cell(HTMLText.number(Double(measure.count), digits: 0)), "<td>\(sources(measure.sources))</td>",
      ])
    }
    var chart = ""
    if let steps = content.measure("StepCount"), steps.days.count > 1 {
      chart =
        ReportChart(
          title: "Steps a day", days: content.days,
          marks: steps.days.sorted { $0.key < $1.key }.map { .bar(day: Double($0.key), $0.value.middle) },
          startsAtZero: true, number: { HTMLText.number($0, digits: 0) }, date: date
        ).svg() ?? ""
      chart = "<h3>Steps a day</h3>" + chart
    }
    return section(
      "Activity",
      table(["A day", "Mean", "Half of days", "Days", "Samples", "Source"], rows) + chart)
  }

  private var workouts: String {
    guard !content.workouts.isEmpty else { return "" }
    let groups = Dictionary(grouping: content.workouts) { $0.workout.activityType.displayName }.sorted {
      ($1.value.count, $0.key) < ($0.value.count, $1.key)
    }
    let texts = groups.prefix(Self.listedWorkouts).map { name, workouts -> String in
      let seconds = workouts.compactMap(\.duration)
      let metres = workouts.compactMap(\.distance).reduce(0, +)
      return "<b>\(HTMLText.escaped(name))</b> \(workouts.count) ×, \(duration(seconds.reduce(0, +) / 3600)) h"
        + (metres > 0 ? ", \(HTMLText.number(metres / 1000)) km" : "")
    }
    let others = groups.dropFirst(Self.listedWorkouts).reduce(0) { $0 + $1.value.count }
    let rest = others > 0 ? "; and \(others) others" : ""
    return section("Workouts", "<p>\(texts.joined(separator: "; "))\(rest).</p>")
  }

  private var electrocardiograms: String {
    guard let first = content.electrocardiograms.first else { return "" }
    let rows = content.electrocardiograms.map { one in
      row([
        "<th scope=\"row\">\(HTMLText.escaped(minute(one.instant)))</th>",
        "<td>\(HTMLText.name(one.value.classification ?? "–"))</td>",
        cell(one.value.averageHeartRate.map { "\(HTMLText.number($0, digits: 0))/min" } ?? "–"),
        "<td>\(HTMLText.name(one.source))</td>",
      ])
    }
    let strip = ElectrocardiogramStrip.svg(first.value).map {
      "<p>The newest, its beginning at 25 mm/s and 10 mm/mV\(first.value.lead.map { ", \(HTMLText.escaped($0))" } ?? ""):</p>"
        + $0
    }
    return section(
      "Electrocardiograms, as the device has classified them",
      table(["", "Classification", "Heart rate", "Source"], rows) + (strip ?? ""))
  }

  // MARK: Parts

  private func section(_ title: String, _ body: String) -> String {
    "<section><h2>\(title)</h2>\(body)</section>\n"
  }

  private func table(_ head: [String], _ rows: [String]) -> String {
    let cells = head.enumerated().map { index, title in
      title.isEmpty
        ? "<td></td>"
        : "<th scope=\"col\"\(title == "Source" || title == "Classification" ? " class=\"text\"" : "")>\(title)</th>"
    }
    return "<table><thead><tr>\(cells.joined())</tr></thead><tbody>\(rows.joined(separator: "\n"))</tbody></table>"
  }

  private func row(_ cells: [String]) -> String { "<tr>\(cells.joined())</tr>" }
  private func cell(_ text: String) -> String { "<td class=\"number\">\(text)</td>" }

  private func sources(_ names: [String]) -> String {
    let shown = names.prefix(2).map(HTMLText.name).joined(separator: ", ")
    return shown + (names.count > 2 ? " and \(names.count - 2) more" : "")
  }

  private func unit(_ measure: ReportContent.Measure) -> String {
    ["", "count"].contains(measure.unit)
      ? "" : ", <span class=\"unit\">\(HTMLText.escaped(unitName(measure.unit)))</span>"
  }

  private func unitName(_ unit: String) -> String { unit == "count/min" ? "/min" : unit }

  /// Formats a value of a measure; fractions of 1 become percentages.
  private func number(_ value: Double, _ measure: ReportContent.Measure) -> String {
    HTMLText.number(measure.unit == "%" ? value * 100 : value)
  }

  private func range(_ values: [Double]) -> String {
    "\(HTMLText.number(values.min() ?? 0, digits: 0)) – \(HTMLText.number(values.max() ?? 0, digits: 0))"
  }

  /// Formats a duration such as `7:05`.
  private func duration(_ hours: Double) -> String {
    let minutes = Int((min(max(hours, 0), 1e9) * 60).rounded())
    return "\(HTMLText.number(Double(minutes / 60), digits: 0)):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
  }

  private func date(_ day: Int) -> String {
    String(Timestamp(seconds: Int64(day) * 86_400).iso8601.prefix { $0 != "T" })
  }

  /// Formats an instant such as `2024-06-15 08:30`.
  private func minute(_ instant: Timestamp) -> String {
    let text = content.zone.text(instant)
    let day = content.zone.date(instant)
    return "\(day) \(text.dropFirst(day.count + 1).prefix(5))"
  }

  /// Splits values into lines, with a gap where more days than ``smoothedDays`` have no value.
  private static func unbroken(
    _ days: [(day: Double, value: Double)]
  ) -> [[(day: Double, value: Double)]] {
    var lines: [[(day: Double, value: Double)]] = []
    for day in days {
      if let last = lines.last?.last, day.day - last.day <= Double(smoothedDays) {
        lines[lines.count - 1].append(day)
      } else {
        lines.append([day])
      }
    }
    return lines
  }

  /// Returns the running median over ``smoothedDays`` days.
  static func smoothed(_ days: [(day: Double, value: Double)]) -> [(day: Double, value: Double)] {
    days.indices.map { index in
      let nearby = days[max(0, index - smoothedDays / 2)...min(days.count - 1, index + smoothedDays / 2)]
      let around = nearby.filter { abs($0.day - days[index].day) <= Double(smoothedDays / 2) }
      return (days[index].day, Quartiles(around.map(\.value))?.median ?? days[index].value)
    }
  }
}
