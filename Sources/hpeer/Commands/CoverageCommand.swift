import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct CoverageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coverage",
    abstract: "Print a calendar of what there is, so that gaps are seen.",
    discussion: """
      Without types it has a line for each type and a column for each month, the darker the more of its days have samples. \
      With types it has a line for each month and a column for each day. A day has samples where one starts on it.

      Examples:
        hpeer coverage
        hpeer coverage stepCount sleepAnalysis --from 2024
        hpeer coverage heartRate --source "Casey's Apple Watch" --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeArguments
  @OptionGroup var options: QuestionOptions
  @OptionGroup var output: JSONOption

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await options.question(to: store)
    let named = try selection.types
    var types = named
    if types.isEmpty {
      types = try await store.samples.typeCounts().sorted {
        ($1.samples, $0.type.shortName) < ($0.samples, $1.type.shortName)
      }
      .map(\.type)
    }
    var found: [Coverage] = []
    for type in types {
      let coverage = try await Coverage.coverage(
        of: type, in: question.range, within: question.limits, from: question.sources, zone: question.zone,
        store: store)
      // What is true of a person has no day.
      if named.isEmpty, coverage.implausibleTime == 0, coverage.extent == nil || coverage.extent == 0...0 { continue }
      found.append(coverage)
    }
    if output.json { return try Console.print(json: CoverageObject(found, question)) }
    defer { ImplausibleTime.say(found.reduce(0) { $0 + $1.implausibleTime }) }
    let presentation = CoveragePresentation(question: question)
    if named.isEmpty { return try presentation.print(months: found) }
    for (index, coverage) in found.enumerated() {
      if index > 0 { try Console.print("") }
      try presentation.print(days: coverage)
    }
  }
}
