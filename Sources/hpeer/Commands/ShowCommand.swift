import ArgumentParser
import HealthModel
import HealthStore
import Terminal

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print samples of one type, newest first.",
    discussion: """
      Times are local, with their offset from UTC; --zone or --utc shows others. With --json each sample is one JSON \
      object on a line of its own, with times in UTC.

      Examples:
        hpeer show heartRate
        hpeer show workout --from 2024-01-01 --to 2024-12-31 --limit 100
        hpeer show stepCount --from 2024-06-15T10:00 --to 2024-06-15T11:30 --zone Europe/Berlin
        hpeer show stepCount --json --limit 0
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "A short name (stepCount) or a HealthKit identifier.")
  var type: String
  @OptionGroup var period: PeriodOptions
  @Option(help: "How many; 0 for all.")
  var limit = 20
  @Flag(help: "Print each sample as a JSON object on a line of its own.")
  var json = false

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit takes a number from 0.") }
  }

  private static let pageSize = 1000

  func run() async throws {
    let type = try SampleType.named(type)
    let store = try common.homeDirectory.openStoreForReading()
    let wanted = limit == 0 ? Int.max : limit
    var offset = 0
    while offset < wanted {
      let page = try await store.samples(
        of: type, in: period.range, offset: offset, limit: min(Self.pageSize, wanted - offset))
      for sample in page { try print(sample) }
      offset += page.count
      if page.count < Self.pageSize { break }
    }
    if offset == 0 { Console.say("No sample of \(type.shortName) in this range.") }
  }

  private func print(_ sample: Sample) throws {
    if json { return try Console.print(json: sample) }
    let source = PlainText.escaped(sample.source.name)
    try Console.print(
      "\(period.zone.text(sample.start))  \(period.zone.text(sample.end))  \(Self.text(of: sample))  \(source)")
  }

  private static func text(of sample: Sample) -> String {
    switch sample.payload {
    case .quantity(let quantity): "\(quantity.value) \(PlainText.escaped(quantity.unit))"
    case .category(let category):
      PlainText.escaped(CategoryValueNames.healthKit.exported(category, type: sample.type) ?? "-", limit: 100)
    case .workout(let workout):
      PlainText.escaped(workout.activityType.exported, limit: 100)
        + (workout.duration.map { " \(HumanFormat.duration(.seconds($0)))" } ?? "")
    case .correlation(let correlation): HumanFormat.count(correlation.members.count, "member")
    case .characteristic(let value): PlainText.escaped(value.value, limit: 100)
    case .activitySummary(let summary):
      summary.attributes.sorted { $0.key < $1.key }
        .map { "\(PlainText.escaped($0.key))=\(PlainText.escaped($0.value))" }.joined(separator: " ")
    case .workoutRoute(let route): HumanFormat.count(route.points.count, "point")
    case .electrocardiogram(let electrocardiogram):
      PlainText.escaped(electrocardiogram.classification ?? "-", limit: 100)
        + (electrocardiogram.averageHeartRate.map { " \($0) count/min" } ?? "")
        + " \(HumanFormat.count(electrocardiogram.voltages.count, "voltage"))"
    case .audiogram(let audiogram): HumanFormat.count(audiogram.points.count, "frequency", "frequencies")
    case .visionPrescription(let prescription): Self.text(of: prescription)
    case .clinicalRecord(let record):
      PlainText.escaped(record.path ?? record.identifier, limit: 100)
    case .unknown(let kind, _): PlainText.escaped(kind)
    }
  }

  private static func text(of prescription: VisionPrescription) -> String {
    let eyes = [("right", prescription.right), ("left", prescription.left)].compactMap { side, eye in
      eye.map { eye in
        "\(side) "
          + eye.sorted { $0.key < $1.key }
          .map { "\(PlainText.escaped($0.key))=\($0.value.value) \(PlainText.escaped($0.value.unit))" }
          .joined(separator: " ")
      }
    }
    return (eyes + [prescription.brand.map { PlainText.escaped($0, limit: 100) }].compactMap(\.self))
      .joined(separator: ", ")
  }
}
