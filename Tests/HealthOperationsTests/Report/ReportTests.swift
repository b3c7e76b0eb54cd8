import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of the two-page report for a doctor.
@Suite struct ReportTests {
  private static let hostile = "<script>alert(1)</script>\"'&\u{202E}\u{1B}[2J"
  private static let first = 19_800

  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let zone: ZoneRules

  init() throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path("home"))
    zone = try ZoneRules(named: "Europe/Berlin")
  }

  private func sample(
    _ type: String, _ day: Int, _ payload: Payload, source: String = "Watch", seconds: Int64 = 0, hour: Int64 = 8
  ) -> Sample {
    let start = Timestamp(seconds: zone.start(ofDay: day) + hour * 3600)
    return Sample(
      uuid: UUID(), type: SampleType(type), start: start, end: Timestamp(seconds: start.seconds + seconds),
      source: Source(name: source), payload: payload)
  }

  /// Adds data for every section of a report.
  private func fill(source: String) async throws {
    var samples: [Sample] = []
    for day in Self.first..<Self.first + 30 {
      let value = Double(day - Self.first)
      for (name, number, unit) in [
        ("RestingHeartRate", 55 + value / 10, "count/min"), ("BodyMass", 80 - value / 20, "kg"),
        ("OxygenSaturation", 0.97, "%"),
      ] {
        samples.append(
          sample("HKQuantityTypeIdentifier" + name, day, .quantity(Quantity(number, unit)), source: source))
      }
      samples.append(
        sample(
          "HKQuantityTypeIdentifierStepCount", day, .quantity(Quantity(5000 + value * 100, "count")), source: source,
          seconds: 3600))
      samples.append(
        sample(
          "HKCategoryTypeIdentifierSleepAnalysis", day, .category(CategoryValue(value: 3)), source: source,
          seconds: 7 * 3600, hour: 0))
      let systolic = sample(
        "HKQuantityTypeIdentifierBloodPressureSystolic", day, .quantity(Quantity(120 + value, "mmHg")), source: source)
      let diastolic = sample(
        "HKQuantityTypeIdentifierBloodPressureDiastolic", day, .quantity(Quantity(80, "mmHg")), source: source)
      let members = Correlation(members: [systolic.reference, diastolic.reference])
      samples += [
        systolic, diastolic,
        sample("HKCorrelationTypeIdentifierBloodPressure", day, .correlation(members), source: source),
      ]
    }
    samples.append(
      sample(
        "HKWorkoutTypeIdentifier", Self.first, .workout(Workout(activityType: .name(source), duration: 1800)),
        source: source, seconds: 1800))
    let voltages = (0..<5000).map { index -> Double in index % 400 == 0 ? 900 : Double(index % 20) }
    samples.append(
      sample(
        SampleType.electrocardiogram.rawValue, Self.first,
        .electrocardiogram(
          Electrocardiogram(
            classification: source, averageHeartRate: 61, samplingFrequency: 512, lead: source, unit: "µV",
            voltages: voltages + [Double.nan])), source: source))
    try await store.apply(ChangeBatch(additions: samples))
  }

  private func report(_ days: ClosedRange<Int>) async throws -> String {
    let path = directory.path("report.html")
    let operation = ReportOperation(days: days, in: zone, to: .file(path: path, replaces: true)) { type, own in
      own == "kg" ? "lb" : own
    }
    _ = try await operation.run(from: store)
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func everySectionSaysHowManyAndFromWhere() async throws {
    try await fill(source: "Casey's Watch")
    let html = try await report(Self.first...Self.first + 29)
    for title in ["Measurements", "Blood pressure, mmHg", "Resting Heart Rate", "Sleep, hours a night", "Activity"] {
      #expect(html.contains("<h2>\(title)"), "\(title)")
    }
    #expect(html.contains("Mean <b>135/80 mmHg</b> of 30 readings; systolic 120 – 149, diastolic 80 – 80."))
    #expect(html.contains(">Weight") && html.contains(">lb</span>") && html.contains("176.4"), "pounds")
    #expect(html.contains("30 of 30 days") && html.contains("30 of 30 nights"))
    #expect(html.contains("Median <b>7:00</b>") && html.contains("asleep at 00:00, awake at 07:00"))
    #expect(html.contains("<bdi>Casey&#39;s Watch</bdi>"))
    #expect(html.contains("width=\"175mm\" height=\"30mm\""))
    let events = try await store.audit.records()
    #expect(events.map(\.event) == ["export.started", "export"] && events[1].detail["format"] == "report")
    let mode = try FileManager.default.attributesOfItem(atPath: directory.path("report.html"))[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  /// Names that contain markup are escaped, and the page loads nothing.
  @Test func aNameIsNeverMarkup() async throws {
    try await fill(source: Self.hostile)
    let html = try await report(Self.first...Self.first + 29)
    #expect(!html.contains("<script") && !html.contains("\u{202E}") && !html.contains("\u{1B}"))
    #expect(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"))
    for address in ["http:", "https:", "url(", "@import", "src=", "href="] { #expect(!html.contains(address)) }
    // WeasyPrint applies no style sheet to what is in a picture.
    for element in ["<path ", "<text ", "<circle "] {
      #expect(
        html.components(separatedBy: element).dropFirst().allSatisfy { $0.prefix { $0 != ">" }.contains("fill=") })
    }
    // What opens closes.
    for element in ["table", "tr", "section", "svg", "bdi", "ul", "li", "p", "h2"] {
      let opened =
        html.components(separatedBy: "<\(element)>").count + html.components(separatedBy: "<\(element) ").count
      #expect(opened - 1 == html.components(separatedBy: "</\(element)>").count, "\(element)")
    }
  }

  @Test func ofNothingThereIsAPageAllTheSame() async throws {
    let content = try await ReportReader(
      store: store, zone: zone, days: Self.first...Self.first, sources: nil, unit: { $1 }
    ).content(made: .now)
    let html = ReportPage(content: content).html()
    #expect(html.contains("The record is empty.") && html.hasSuffix("</html>\n"))
    // A file would keep the place of the right one.
    await #expect(throws: ReportIsEmpty.self) { try await report(Self.first...Self.first) }
    #expect(!FileManager.default.fileExists(atPath: directory.path("report.html")))
  }

  @Test func whatIsThereIsNotLost() async throws {
    let path = directory.path("here.html")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    let operation = ReportOperation(days: 0...1, in: zone, to: .file(path: path, replaces: false))
    await #expect(throws: ExportError.alreadyThere(path: path)) { try await operation.run(from: store) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
  }

  /// `scripts/setup` installs a program that can print. Without it, the message for that case is expected.
  @Test func aReportIsAPDFWhereAProgramCanPrint() async throws {
    try await fill(source: "Watch")
    let path = directory.path("report.pdf")
    let days = Self.first...Self.first + 29
    let operation = ReportOperation(days: days, in: zone, to: .file(path: path, replaces: false), as: .pdf)
    guard ReportPrinter.installed != nil else {
      await #expect(throws: ReportPrinterError.noProgram) { try await operation.run(from: store) }
      #expect(!FileManager.default.fileExists(atPath: path))
      return
    }
    _ = try await operation.run(from: store)
    let pdf = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(pdf.starts(with: Data("%PDF-".utf8)) && pdf.count > 5_000)
    let left = try FileManager.default.contentsOfDirectory(atPath: store.directory)
    #expect(!left.contains { $0.hasPrefix(".report-") }, "nothing of it stays in the home")
  }

  /// The line is a median of days, not of values: the values of a scale that is used once a week stay apart.
  @Test func theLineIsAMedianOfSevenDays() {
    func smoothed(every distance: Int) -> [Double] {
      ReportPage.smoothed((0..<9).map { (day: Double($0 * distance), value: Double($0 % 2)) }).map(\.value)
    }
    #expect(smoothed(every: 7) == [0, 1, 0, 1, 0, 1, 0, 1, 0])
    #expect(smoothed(every: 1)[3...5] == [0, 1, 0])
    #expect(smoothed(every: 4) == [0, 1, 0, 1, 0, 1, 0, 1, 0])
  }

  @Test func numbersOnAnAxisAreRound() {
    #expect(ReportChart.steps(0, 10) == [0, 2.5, 5, 7.5, 10])
    for (low, high) in [(60.0, 60.0), (0, 0), (-3, 7), (1e-6, 2e-6), (48, 142), (0, 1e11)] {
      let steps = ReportChart.steps(low, high)
      #expect((2...7).contains(steps.count) && steps[0] <= low && steps[steps.count - 1] >= high, "\(low) \(high)")
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 < $1 })
    }
    let chart = ReportChart(title: "x", days: 0...3, marks: [.dot(day: 1, .nan)], date: { "\($0)" })
    #expect(chart.svg() == nil)
  }

  @Test(arguments: [
    (1234.5, "1\u{202F}234.5"), (0.04, "0.04"), (-0.04, "−0.04"), (-12.34, "−12.3"), (1e15, "–"), (Double.nan, "–"),
    (999.95, "1\u{202F}000"), (1_000_000, "1\u{202F}000\u{202F}000"), (0.0000024, "0.0000024"),
  ])
  func numbersAreGrouped(value: Double, text: String) {
    #expect(HTMLText.number(value) == text)
  }
}
