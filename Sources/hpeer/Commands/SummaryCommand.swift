import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct SummaryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary",
    abstract: "Print today, last night and this week on one screen, against what is usual.",
    discussion: """
      Usual is the median of the 28 days before, of which 14 must have a value, with the range in which half of them lay; ! \
      marks a whole day far outside of it. The week has the mean of its whole days, and how far that is from the mean of \
      the 28 days before it. docs/reference/statistics.md says what each number means.

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

  /// As many as the usual ones are.
  private static let leastTypes = DaySummaryQuery.usualTypes.count

  func validate() throws {
    let isOneDay = options.dates.on != nil || !options.dates.hasStart && !options.dates.hasEnd
    guard isOneDay else { throw ValidationError("A summary is of one day: `hpeer summary 2024-06-15`.") }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    var question = try await options.question(to: store)
    question.readings = strictness.readings
    try await NumbersUpdate.run(on: store)
    let day = question.days.first ?? question.today
    if let last = question.days.last, last != day {
      throw ValidationError("A summary is of one day: `hpeer stats TYPE` and `hpeer report` are of more.")
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
