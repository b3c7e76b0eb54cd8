import HealthAnalysis
import HealthModel
import Terminal

/// The summary of a day on one screen.
struct SummaryPresentation {
  let summary: DaySummary
  let question: Question

  private static let weekdays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]

  func print() throws {
    let weekday = Self.weekdays[(summary.day % 7 + 7) % 7]
    let date = question.zone.date(Timestamp(seconds: question.zone.start(ofDay: summary.day)))
    let isTerminal = Console.capabilities.isTerminal(.output)
    // A zone that was not chosen is this machine's.
    let guessed = isTerminal && !question.home.isChosen && question.zone.name == question.home.rules.name
    let zone = PlainText.escaped(question.zone.name, limit: 60) + (guessed ? " (this machine's)" : "")
    try Console.print(
      phrases: ["\(weekday), \(date)", zone] + (summary.isPartial ? [extent] : []), separator: ", ")
    defer { sayWhereRecordEnds() }
    let parts = [rings, night, pressure, workouts].filter { !$0.isEmpty }
    if parts.isEmpty, summary.types.isEmpty { return sayNothing() }
    if !parts.isEmpty { try Console.print("") }
    for part in parts { try Console.print(phrases: part) }
    guard !summary.types.isEmpty else { return }
    try Console.print("")
    let (columns, table) = table
    try Console.print(table)
    if isTerminal { sayLegend(columns) }
  }

  private func sayLegend(_ columns: [Column]) {
    var words: [String] = []
    if columns.contains(.usual) { words.append("USUAL: the median of 28 days before") }
    if columns.contains(.half) { words.append("HALF OF DAYS: where half of them lie") }
    if columns.contains(.change) { words.append("CHANGE: of the mean of the week") }
    if summary.types.contains(where: \.isUnusual) { words.append("!: far outside") }
    if !words.isEmpty { Console.say(words.joined(separator: "; ") + ".") }
  }

  /// The text that says up to which time an unfinished day is known.
  private var extent: String {
    guard let known = summary.knownUntil, question.zone.dayNumber(at: known.seconds) == summary.day else {
      return "up to now"
    }
    return "up to \(RecordEndText.time(known, question.zone))"
  }

  private func sayWhereRecordEnds() {
    guard let known = summary.knownUntil, question.zone.dayNumber(at: known.seconds) < summary.day else { return }
    let end = "\(question.zone.date(known)) at \(RecordEndText.time(known, question.zone))"
    Console.say(
      "The data that devices record every day ends before this day, on \(end). To get later data, import a newer export "
        + "(`hpeer import`) or run `hpeer pull`.")
  }

  private func sayNothing() {
    Console.say("Nothing to show of this day, or of the weeks before it.")
    guard let newest = summary.newest else { return }
    let date = question.zone.date(newest.start)
    let name = PlainText.escaped(newest.type.shortName, limit: 100)
    Console.say(
      "The record has \(HumanFormat.count(newest.samples, "sample")), the newest before that of \(date), of \(name): "
        + "`hpeer summary --on \(date)` shows that day, `hpeer types` all there is.")
  }

  // MARK: Parts

  private var rings: [String] {
    guard let rings = summary.rings else { return [] }
    let named = [("move", rings.move), ("exercise", rings.exercise), ("stand", rings.stand)]
    let words = named.compactMap { name, ring -> String? in
      guard let ring else { return nil }
      let isEnergy = ring.unit == "kcal"
      let unit = isEnergy ? question.unitsForPeople.energy : ring.unit
      func text(_ value: Double) -> String {
        let shown = isEnergy ? UnitConversion.convert(value, from: "kcal", to: unit) ?? value : value
        return HumanFormat.number(NumberText.rounded(shown, places: 0))
      }
      guard let goal = ring.goal, let share = ring.share else { return "\(name) \(text(ring.value)) \(unit)" }
      return "\(name) \(text(ring.value))/\(text(goal)) \(unit) "
        + "(\(HumanFormat.number(NumberText.rounded(share * 100, places: 0))) %)"
    }
    return ["Rings:"] + words + (rings.isComputed ? ["(calculated from samples)"] : [])
  }

  private var night: [String] {
    guard let night = summary.night else { return [] }
    let session = night.main
    let times = [session.onset ?? session.start, session.wake ?? session.end].map {
      String(question.zone.text($0).dropFirst(11).prefix(5))
    }
    var words = ["Night:", session.asleep.map { "asleep \(DurationText.hours($0))" } ?? "no sleep recorded"]
    if let asleep = session.asleep, summary.usualSleep?.isUnusual(asleep) == true { words[1] += " !" }
    if let usual = summary.usualSleep { words.append("(usual \(DurationText.hours(usual.median)))") }
    if session.stated == nil || session.onset != nil { words.append(times.joined(separator: "-")) }
    if session.stated != nil { words.append("(total sent by an app)") }
    let stages = [("deep", SleepStage.asleepDeep), ("REM", .asleepREM), ("core", .asleepCore), ("awake", .awake)]
    for (name, stage) in stages where session.duration(of: stage) > 0 {
      words.append("\(name) \(DurationText.hours(session.duration(of: stage)))")
    }
    for nap in night.naps { words.append("nap \(nap.asleep.map(DurationText.hours) ?? "-")") }
    return words
  }

  private var pressure: [String] {
    guard let pressure = summary.bloodPressure else { return [] }
    return ["Blood pressure:", BloodPressureText.of(pressure), "on \(question.zone.date(pressure.instant))"]
  }

  private var workouts: [String] {
    guard !summary.workouts.isEmpty else { return [] }
    let text = WorkoutPresentation(zone: question.zone, units: question.unitsForPeople)
    return ["Workouts of the week:"] + text.total(summary.workouts)
  }

  // MARK: Types

  private enum Column: String {
    case today, usual, week, days, change
    case half = "half of days"
  }

  /// The columns of the table and whether units are shown, from a wide window to a narrow one. Fewer numbers are
  /// better than cut names or numbers without their unit.
  private static let layouts: [(columns: [Column], hasUnit: Bool)] = [
    ([.today, .usual, .half, .week, .days, .change], true), ([.today, .usual, .half, .week, .change], true),
    ([.today, .usual, .week, .change], true), ([.today, .usual, .week], true), ([.today, .usual], true),
    ([.today], true), ([.today], false),
  ]

  /// The widest table that fits. A pipe gets all columns.
  private var table: (columns: [Column], table: Table) {
    let tables = Self.layouts.lazy.map { ($0.columns, table(of: $0.columns, hasUnit: $0.hasUnit)) }
    guard Console.capabilities.isTerminal(.output) else { return tables[0] }
    let width = Console.capabilities.size.columns
    return tables.first { $0.1.rendered().allSatisfy { DisplayWidth.of($0) <= width } } ?? tables[tables.count - 1]
  }

  private func table(of columns: [Column], hasUnit: Bool) -> Table {
    let isToday = summary.day == question.today
    var table = Table(
      columns: [.init("TYPE")]
        + columns.map { .init($0 == .today && !isToday ? "DAY" : $0.rawValue.uppercased(), .trailing) })
    for entry in summary.types { table.append(row(entry, columns, hasUnit: hasUnit)) }
    return table
  }

  private func row(_ entry: DaySummary.TypeSummary, _ columns: [Column], hasUnit: Bool) -> [Table.Cell] {
    let own = entry.unit ?? ""
    let unit = question.unitsForPeople.unit(for: entry.type, in: own)
    let shown = MolarUnit.short(unit)
    let text = NumberText(unit: shown, aggregation: entry.aggregation)
    func number(_ value: Double) -> String { text.number(UnitConversion.convert(value, from: own, to: unit) ?? value) }
    let isPlain = !hasUnit || ["", "count", "%"].contains(unit)
    return [.init(isPlain ? entry.type.shortName : "\(entry.type.shortName), \(NumberText.name(of: shown))")]
      + columns.map { column in
        switch column {
        case .today:
          let today = entry.number.map { number($0.representative) } ?? "-"
          return .init(entry.isUnusual ? "! \(today)" : today, entry.isUnusual ? .yellow : nil)
        case .usual: return .init(entry.baseline.map { number($0.median) } ?? "-")
        case .half:
          return .init(
            entry.baseline.map { "\(number($0.band.lowerBound)) to \(number($0.band.upperBound))" } ?? "-")
        case .week: return .init(entry.week.now.mean.map(number) ?? "-")
        case .days: return .init("\(entry.week.now.days)")
        case .change: return .init(entry.week.share.map(Self.change) ?? "-")
        }
      }
  }

  private static func change(_ share: Double) -> String {
    let percent = NumberText.rounded(share * 100, places: 0)
    return (percent > 0 ? "+" : "") + "\(HumanFormat.number(percent)) %"
  }
}

/// The text for the instant up to which a record is known.
enum RecordEndText {
  /// Returns a time of day, such as `07:30`.
  static func time(_ instant: Timestamp, _ zone: ZoneRules) -> String {
    String(zone.text(instant).dropFirst(11).prefix(5))
  }
}

/// The text for a blood pressure.
enum BloodPressureText {
  /// Returns both values and the unit, such as `120/80 mmHg`.
  static func of(_ pressure: BloodPressure) -> String {
    let values = [pressure.systolic, pressure.diastolic].map { HumanFormat.number(NumberText.rounded($0, digits: 1)) }
    return values.joined(separator: "/") + " mmHg"
  }
}
