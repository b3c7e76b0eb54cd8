import ArgumentParser
import Destinations
import HealthOperations
import HealthStore
import Terminal

struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Deliver everything that is new to all destinations, now.",
    discussion: """
      All at the same time; paused and disabled ones are left out. Ends with 12 where some were delivered to and others \
      were not.

      Examples:
        hpeer sync
        hpeer sync backup --json
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "Only these destinations.")
  var names: [String] = []
  @OptionGroup var output: JSONOption

  private struct Line: Encodable {
    var name: String
    var kind: String
    var delivered: Int
    var refused: Int
    var retries: Int
    var seconds: Double
    /// What went wrong; `nil` where everything is there.
    var reason: String?
  }

  /// Somebody waits for it at the terminal.
  private static let policy = RetryPolicy(longestPause: .seconds(15), longestRetryAfter: .seconds(60), tolerance: 4)

  func run() async throws {
    let home = common.homeDirectory
    var sections = try home.settings().destinations.filter(\.common.isEnabled)
    if !names.isEmpty { sections = try names.map { try DestinationArgument.section($0, home) } }
    let store = try home.openStore()
    let paused = Set(try await store.deliveries.all().filter { $0.paused != nil }.map(\.consumer))
    if names.isEmpty { sections = sections.filter { !paused.contains($0.consumer) } }
    guard !sections.isEmpty else {
      return Console.say("There is no destination to deliver to: `hpeer destination list` has them.")
    }
    let failures = try await interruptible("what was delivered stays, and the same command goes on from there.") {
      [sections, output] in try await Self.deliver(sections, home, store, isJSON: output.json)
    }
    guard let first = failures.first else { return }
    throw ExitCode(failures.count < sections.count ? ExitStatus.partial.rawValue : ExitStatus.of(first).rawValue)
  }

  private static func deliver(
    _ sections: [DestinationSection], _ home: Home, _ store: HealthStore, isJSON: Bool
  ) async throws -> [any Error] {
    try await withThrowingTaskGroup(of: (Line, (any Error)?).self) { group in
      for section in sections {
        group.addTask { try await deliver(section, home, store) }
      }
      var failures: [any Error] = []
      for try await (line, error) in group {
        if isJSON { try Console.print(json: line) } else { try Console.print(text(line)) }
        if let error { failures.append(error) }
      }
      return failures
    }
  }

  private static func deliver(
    _ section: DestinationSection, _ home: Home, _ store: HealthStore
  ) async throws -> (Line, (any Error)?) {
    let start = ContinuousClock.now
    let before = try await store.deliveries.state(of: section.consumer)
    func line(_ report: CourierReport, _ reason: String?) -> Line {
      Line(
        name: section.name, kind: section.kind.description.kind.rawValue, delivered: report.delivered,
        refused: report.refused, retries: report.retries, seconds: (ContinuousClock.now - start).reportedSeconds,
        reason: reason)
    }
    do {
      return (line(try await DeliverOperation(section, home: home, store: store, policy: policy).run(), nil), nil)
    } catch let error where !(error is CancellationError) {
      try Task.checkCancellation()
      let after = try await store.deliveries.state(of: section.consumer)
      var report = CourierReport()
      report.delivered = after.delivered - before.delivered
      report.refused = after.refused - before.refused
      return (line(report, ErrorText.sentence(error)), error)
    }
  }

  private static func text(_ line: Line) -> String {
    var text = "\(line.name): "
    if let reason = line.reason {
      text += reason
      if line.delivered > 0 { text += " \(HumanFormat.count(line.delivered, "change")) delivered before that." }
      return text
    }
    text += line.delivered == 0 ? "nothing new" : "\(HumanFormat.count(line.delivered, "change")) delivered"
    if line.refused > 0 {
      text += ", \(HumanFormat.count(line.refused)) refused (hpeer destination rejected \(line.name))"
    }
    return text
  }
}
