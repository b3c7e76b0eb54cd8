import ArgumentParser
import HealthAnalysis
import HealthModel
import HealthOperations
import OperatingSystem
import Terminal

struct ReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a two-page report for a doctor, as an HTML or PDF file.",
    discussion: """
      It covers blood pressure, resting heart rate, weight, sleep, activity, workouts and electrocardiograms. Each number \
      comes with the count and the sources of its measurements. The file needs no network and has no script. \
      Without --from it covers the last 90 days. A PDF file needs WeasyPrint or Chromium on this machine.

      Examples:
        hpeer report --output report.html
        hpeer report --output report.pdf
        hpeer report --from 2024-01-01 --to 2024-06-30 --output report.html
        hpeer report --from 1y --units imperial --output report.html --force
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var options: QuestionOptions
  @Option(
    name: [.short, .long], help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
  var output: String
  @Option(help: "Format: html or pdf. Default: from the file name.")
  var format: ReportOperation.Format?
  @Flag(help: "Overwrite an existing file.")
  var force = false

  private static let usualDays = 90

  func validate() throws {
    if output.isEmpty { throw ValidationError("--output takes a file, or - for standard output.") }
    let named = ExportName(output)
    if named.format != nil { throw ValidationError("A report is HTML or PDF: name it .html or .pdf.") }
    if let format, let other = named.report, other != format {
      throw ValidationError(
        "A file that ends in .\(other.rawValue) would not be \(format.rawValue): name it .\(format.rawValue).")
    }
  }

  func run() async throws {
    let isFile = output != "-"
    if !isFile { try OutputWriter.standardOutput.requireOpen() }
    let store = try await common.homeDirectory.openStoreForCopying()
    let question = try await options.question(to: store)
    try await NumbersUpdate.run(on: store)
    let last = question.days.last ?? question.today
    let first = question.days.first ?? last - Self.usualDays + 1
    guard first <= last else { throw ValidationError("--from must be before --to.") }
    guard last - first < ReportOperation.mostDays else {
      throw ValidationError("A report is of ten years at most: name a shorter time with --from and --to.")
    }
    let operation = ReportOperation(
      days: first...last, in: question.zone,
      to: isFile ? .file(path: output, replaces: force) : .stream(ReportOutput()),
      as: format ?? ExportName(output).report ?? .html, from: question.sources,
      unit: question.unitsForPeople.unit)
    let summary: ReportOperation.Summary
    do {
      summary = try await interruptible("no file was written.") { try await operation.run(from: store) }
    } catch let error as ReportIsEmpty {
      let time = "from \(CalendarDay(first).text) to \(CalendarDay(last).text)"
      guard let recorded = error.recorded else {
        throw CommandFailure(.usage, "There is no sample \(time): nothing was written.")
      }
      let end = question.zone.dayNumber(at: recorded.upperBound.seconds)
      throw CommandFailure(
        .usage,
        "Nothing that a report shows was recorded \(time), so nothing was written; the record ends on "
          + "\(CalendarDay(end).text): `hpeer report --from \(CalendarDay(end - Self.usualDays + 1).text) --to "
          + "\(CalendarDay(end).text) --output \(ShellWord.quoted(output))`.")
    }
    if !summary.isAudited { Console.warn("this store cannot be written, so its audit log does not have this report.") }
    if isFile {
      Console.say(
        "Report of \(CalendarDay(first).text) to \(CalendarDay(last).text) written to \(PlainText.escaped(output, limit: 4_096))."
      )
    }
  }
}

extension ReportOperation.Format: ExpressibleByArgument {}

private struct ReportOutput: ExportSink {
  func write(_ bytes: [UInt8]) throws { try OutputWriter.standardOutput.write(bytes) }
  func finish() {}
  func discard() {}
}
