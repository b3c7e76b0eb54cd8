import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct SummaryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary",
    abstract: "Print today, last night and this week on one screen, compared with your usual values.",
    discussion: """
      USUAL is the median of the 28 days before, of which at least 14 must have a value. HALF OF DAYS is the range of half \
      of those days; ! marks a whole day far outside of it. WEEK is the mean of the week's whole days, and CHANGE its \
      difference from the mean of the 28 days before the week. docs/reference/statistics.md says what each number means.

      Examples:
        hpeer summary
        hpeer summary yesterday --units imperial
        hpeer summary --types stepCount,bodyMass,heartRate --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeOptions
  @OptionGroup var options: QuestionOptions
  @OptionGroup var strictness: StrictOption
  @OptionGroup var output: JSONOption

  /// The minimum number of types: as many as there are usual ones.
  private static let leastTypes = DaySummaryQuery.usualTypes.count

  func validate() throws {
    let isOneDay = options.dates.on != nil || !options.dates.hasStart && !options.dates.hasEnd
    guard isOneDay else { throw ValidationError("A summary covers one day, such as `hpeer summary 2024-06-15`.") }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    var question = try await options.question(to: store)
    question.readings = strictness.readings
    try await NumbersUpdate.run(on: store)
    let day = question.days.first ?? question.today
    if let last = question.days.last, last != day {
      throw ValidationError("A summary covers one day. For longer periods use `hpeer stats TYPE` or `hpeer report`.")
    }
    var query = DaySummaryQuery(day: day, in: question.zone, now: question.now)
    query.readings = question.readings
    if selection.types.isEmpty { query.leastTypes = Self.leastTypes } else { query.types = selection.types }
    query.sources = question.sources
    let summary = try await query.run(on: store)
    if output.json { return try Console.print(json: SummaryObject(summary, question)) }
    try SummaryPresentation(summary: summary, question: question).print()
  }
}

/// The summary of a day as JSON: docs/reference/json.md.
struct SummaryObject: Encodable {
  var date: String
  var zone: String
  var partial: Bool
  var knownUntil: String?
  var rings: Rings?
  var types: [Entry]
  var night: SleepObject.NightObject?
  var usualSleep: BaselineObject?
  var bloodPressure: Pressure?
  var workouts: [WorkoutObject]

  struct Rings: Encodable {
    var computed: Bool
    var move: Ring?
    var exercise: Ring?
    var stand: Ring?
  }

  struct Ring: Encodable {
    var value: JSONNumber
    var unit: String
    var goal: JSONNumber?
    var share: JSONNumber?

    init(_ ring: ActivityRings.Ring) {
      (value, unit) = (JSONNumber(value: ring.value), ring.unit)
      (goal, share) = (ring.goal.map(JSONNumber.init), ring.share.map(JSONNumber.init))
    }
  }

  struct BaselineObject: Encodable {
    var median: JSONNumber
    var low: JSONNumber
    var high: JSONNumber
    var days: Int

    init(_ baseline: Baseline, _ convert: (Double) -> Double = { $0 }) {
      median = JSONNumber(value: convert(baseline.median))
      low = JSONNumber(value: convert(baseline.band.lowerBound))
      high = JSONNumber(value: convert(baseline.band.upperBound))
      days = baseline.days
    }
  }

  struct Entry: Encodable {
    var type: String
    var unit: String?
    var value: JSONNumber?
    var unusual: Bool
    var usual: BaselineObject?
    var week: PeriodObject
    var before: PeriodObject
    var change: JSONNumber?
  }

  struct PeriodObject: Encodable {
    var days: Int
    var mean: JSONNumber?
  }

  struct Pressure: Encodable {
    var instant: String
    var systolic: Double
    var diastolic: Double
    var source: String
  }

  init(_ summary: DaySummary, _ question: Question) {
    let zone = question.zone
    date = zone.date(Timestamp(seconds: zone.start(ofDay: summary.day)))
    self.zone = zone.name
    partial = summary.isPartial
    knownUntil = summary.knownUntil.map(zone.text)
    rings = summary.rings.map {
      Rings(
        computed: $0.isComputed, move: $0.move.map(Ring.init), exercise: $0.exercise.map(Ring.init),
        stand: $0.stand.map(Ring.init))
    }
    types = summary.types.map { Self.entry($0, question.units) }
    night = summary.night.flatMap { SleepObject([$0], zone).nights.first }
    usualSleep = summary.usualSleep.map { BaselineObject($0) }
    bloodPressure = summary.bloodPressure.map {
      Pressure(
        instant: zone.text($0.instant), systolic: $0.systolic, diastolic: $0.diastolic, source: $0.source)
    }
    workouts = summary.workouts.map { WorkoutObject($0, zone) }
  }

  private static func entry(_ entry: DaySummary.TypeSummary, _ units: UnitChoice) -> Entry {
    let unit = entry.unit.map { units.unit(for: entry.type, in: $0) }
    func convert(_ value: Double) -> Double {
      guard let own = entry.unit, let unit else { return value }
      return UnitConversion.convert(value, from: own, to: unit) ?? value
    }
    func period(_ period: PeriodComparison.Period) -> PeriodObject {
      PeriodObject(days: period.days, mean: period.mean.map { JSONNumber(value: convert($0)) })
    }
    return Entry(
      type: entry.type.shortName, unit: unit.map(MolarUnit.short),
      value: entry.number.map { JSONNumber(value: convert($0.representative)) },
      unusual: entry.isUnusual, usual: entry.baseline.map { BaselineObject($0, convert) },
      week: period(entry.week.now), before: period(entry.week.before), change: entry.week.share.map(JSONNumber.init))
  }
}
