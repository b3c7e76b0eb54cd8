import ArgumentParser
import Foundation
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Audit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Show who read what, when, and everything else that happened to the record.",
    discussion: """
      Examples:
        hpeer audit
        hpeer audit --from 2024-06-15 --json
        hpeer audit --follow
        hpeer audit verify
        hpeer audit prune --older-than 90
      """,
    subcommands: [AuditShow.self, AuditVerify.self, AuditPrune.self],
    defaultSubcommand: AuditShow.self)
}

struct AuditShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Print the log, oldest first.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var period: PeriodOptions
  @Flag(name: .shortAndLong, help: "Go on printing what happens, until Ctrl-C.")
  var follow = false
  @Flag(help: "Print each event as a JSON object on a line of its own.")
  var json = false

  func validate() throws {
    if follow, period.dates.hasEnd { throw ValidationError("--follow goes on, so it takes no --to.") }
  }

  private struct Entry: Encodable {
    /// None for reads that are counted and not in the log yet.
    var id: Int64?
    var time: Timestamp
    var event: String
    var detail: [String: String]
    var times: Int
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    // Whoever follows the log ends it so, and there is nothing to say.
    guard case .ended = try await untilInterrupted({ try await show(store) }) else {
      throw ExitCode(ExitStatus.interrupted.rawValue)
    }
  }

  private func show(_ store: HealthStore) async throws {
    let period = try period.period
    var last: Int64 = 0
    while true {
      let (records, open) = try await store.audit.log(after: last, since: period.start)
      for record in records where period.range.contains(record.time) { try print(record) }
      if records.isEmpty, !follow {
        for record in open where period.range.contains(record.time) { try print(record) }
      }
      last = records.last?.id ?? last
      if !records.isEmpty { continue }
      if !follow { return }
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  private func print(_ record: AuditRecord) throws {
    var detail = record.detail
    detail[AuditRead.timesKey] = nil
    if json {
      return try Console.print(
        json: Entry(
          id: record.id == 0 ? nil : record.id, time: record.time, event: record.event, detail: detail,
          times: record.times))
    }
    var words = detail.sorted { $0.key < $1.key }
      .map { "\($0.key)=\(Self.quoted($0.key == "id" ? String($0.value.prefix(8)) : $0.value))" }
    if record.times > 1 { words.append(HumanFormat.count(record.times, "time")) }
    let time = period.zone.seconds(record.time)
    let event = record.event.padding(toLength: 18, withPad: " ", startingAt: 0)
    try Console.print("\(time)  \(event) \(words.joined(separator: " "))")
  }

  /// Names in the log come from the network.
  private static func quoted(_ text: String) -> String {
    let escaped = PlainText.escaped(text, limit: 200)
    return escaped.contains(" ") || escaped.isEmpty ? "\"\(escaped)\"" : escaped
  }
}
