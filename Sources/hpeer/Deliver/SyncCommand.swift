import ArgumentParser
import Destinations
import HealthOperations
import HealthStore
import Terminal

struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Do everything that is due, now: automations, and delivering what is new to all destinations.",
    discussion: """
      Runs automations that are due or were missed, one after the other, then delivers to all destinations in parallel. \
      Paused and disabled ones are left out. With names: only those destinations. Exits with 12 if only some succeeded, \
      or if a destination permanently refused samples.

      Examples:
        hpeer sync
        hpeer sync backup --json
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "Only these destinations.", completion: .destinations)
  var names: [String] = []
  @OptionGroup var output: JSONOption

  private struct Line: Encodable {
    var name: String
    var kind: String
    var delivered: Int
    var refused: Int
    var retries: Int
    var seconds: Double
    /// The losses at the destination, and what is done about them.
    var losses: [String]?
    /// The reason for a failure; `nil` if the delivery succeeded.
    var reason: String?
  }

  private struct AutomationLine: Encodable {
    var automation: String
    var result: String?
    var reason: String?
  }

  /// A retry policy with short pauses, for commands that a person is waiting for.
  private static let policy = RetryPolicy(longestPause: .seconds(15), longestRetryAfter: .seconds(60), tolerance: 4)

  func run() async throws {
    let home = common.homeDirectory
    let file = try SettingsNotice.readable(home)
    // The mistakes in the sections that this command is about.
    let mistakes =
      names.isEmpty
      ? SettingsNotice.mistakes(of: file).filter { mistake in
        ["destination", "automation"].contains { mistake.key?.hasPrefix("\($0).") == true }
      } : []
    let outcomes = try await interruptible("what was done is kept. Run the same command again to continue.") {
      [self] in
      var outcomes: [(any Error)?] = []
      if names.isEmpty { outcomes += try await automate(file, home) }
      let sections = try await sections(file, home)
      guard !sections.isEmpty else { return outcomes }
      let failures = try await Self.deliver(sections, home, try home.openStore(), isJSON: output.json)
      return outcomes + failures
    }
    let failures = outcomes.compactMap(\.self) + mistakes
    if outcomes.isEmpty { Console.say("Nothing is due. `hpeer status` shows destinations and automations.") }
    guard let first = failures.first else { return }
    let isPartial =
      failures.count < outcomes.count + mistakes.count
      || failures.contains { $0 is SomeRefused }
    throw ExitCode(isPartial ? ExitStatus.partial.rawValue : ExitStatus.of(first).rawValue)
  }

  /// An error that means that the destination has taken what is new, except for what it refused for good.
  private struct SomeRefused: Error {}

  private func sections(_ file: SettingsFile, _ home: Home) async throws -> [DestinationSection] {
    guard names.isEmpty else { return try names.map { try DestinationArgument.section($0, home) } }
    let sections = file.destinations.filter(\.common.isEnabled)
    guard !sections.isEmpty else { return [] }
    let paused = try await home.openStore().deliveries.standings().paused
    return sections.filter { !paused.contains($0.consumer) }
  }

  /// Runs what is due and returns the outcome of each automation; `nil` for success.
  private func automate(_ file: SettingsFile, _ home: Home) async throws -> [(any Error)?] {
    guard !Automation.readable(in: file).automations.isEmpty else { return [] }
    var outcomes: [(any Error)?] = []
    try await DueAutomations(try await .here(home)).run(words: ErrorText.sentence) { automation, outcome in
      switch outcome {
      case .success(let result):
        outcomes.append(nil)
        try print(AutomationLine(automation: automation.name, result: result), result)
      case .failure(let error):
        outcomes.append(error)
        let reason = ErrorText.sentence(error)
        try print(AutomationLine(automation: automation.name, reason: reason), reason)
      }
    }
    return outcomes
  }

  private func print(_ line: AutomationLine, _ text: String) throws {
    if output.json { return try Console.print(json: line) }
    try Console.print("\(line.automation): \(PlainText.escaped(text, limit: 500))")
  }

  private static func deliver(
    _ sections: [DestinationSection], _ home: Home, _ store: HealthStore, isJSON: Bool
  ) async throws -> [(any Error)?] {
    let bar = ProgressBar(
      label: sections.count == 1 ? sections[0].name : "delivering", totalItems: try await toDo(sections, store),
      capabilities: Console.capabilities)
    defer { bar.finish() }
    return try await withThrowingTaskGroup(of: (Line, (any Error)?).self) { group in
      for section in sections {
        group.addTask { try await deliver(section, home, store, bar) }
      }
      var outcomes: [(any Error)?] = []
      for try await (line, error) in group {
        try bar.aside {
          if isJSON { try Console.print(json: line) } else { try Console.print(text(line)) }
        }
        outcomes.append(error)
      }
      return outcomes
    }
  }

  /// Returns the number of changes to deliver; `nil` if it is not known in advance, as for a selection or a part that
  /// is delivered again.
  private static func toDo(_ sections: [DestinationSection], _ store: HealthStore) async throws -> Int? {
    let positions = try await store.consumers()
    var sum = 0
    for section in sections {
      guard section.common.selectsAll, !RedeliveryRequests.isAsked(section.consumer, among: positions),
        let behind = RedeliveryRequests.behind(section.consumer, among: positions)
      else { return nil }
      sum += behind
    }
    return sum
  }

  private static func deliver(
    _ section: DestinationSection, _ home: Home, _ store: HealthStore, _ bar: ProgressBar
  ) async throws -> (Line, (any Error)?) {
    let start = ContinuousClock.now
    let before = try await store.deliveries.state(of: section.consumer)
    func line(_ report: CourierReport, _ reason: String?) -> Line {
      Line(
        name: section.name, kind: section.kind.description.kind.rawValue, delivered: report.delivered,
        refused: report.refused, retries: report.retries, seconds: (ContinuousClock.now - start).reportedSeconds,
        losses: report.losses.isEmpty ? nil : report.losses, reason: reason)
    }
    let operation = DeliverOperation(section, home: home, store: store, policy: policy) { event in
      if case .delivered(let count) = event { bar.advance(items: count) }
    } progress: { text in
      bar.setLabel("\(section.name): \(text)")
    }
    do {
      let report = try await operation.run()
      return (line(report, nil), report.refused > 0 ? SomeRefused() : nil)
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
    if let reason = line.reason {
      var text = ErrorText.line(reason, named: line.name)
      if line.delivered > 0 { text += " \(HumanFormat.count(line.delivered, "change")) delivered before that." }
      return text
    }
    var text = "\(line.name): "
    for loss in line.losses ?? [] { text += PlainText.escaped(loss, limit: 300) + "; " }
    text += line.delivered == 0 ? "nothing new" : "\(HumanFormat.count(line.delivered, "change")) delivered"
    if line.refused > 0 {
      text += ", \(HumanFormat.count(line.refused)) refused (hpeer destination rejected \(line.name))"
    }
    return text
  }
}

/// The messages of `hpeer run` about deliveries: a line when something is wrong, and nothing while all is well.
enum DeliveryPresentation {
  static func tell(_ destination: String, _ event: DeliveryEvent) {
    let name = PlainText.escaped(destination)
    let failed = JournalFields(.deliveryFailed, destination: destination)
    switch event {
    case .began: break
    case .courier(.failed(let reason, let pause)):
      Console.say(
        "\(name): \(PlainText.escaped(reason, limit: 300)); trying again in \(HumanFormat.duration(pause)).", .warning,
        failed)
    case .courier(.refused(let samples)):
      Console.say(
        "\(name): \(HumanFormat.count(samples.count, "sample")) refused: `hpeer destination rejected \(name)`.",
        .warning, JournalFields(.deliveryRefused, destination: destination))
    case .courier(.lost(let loss)):
      Console.say("\(name): \(PlainText.escaped(loss, limit: 300)).", .warning, failed)
    case .courier(.delivered): break
    case .ended(let error, let pause):
      let reason = ErrorText.line(ErrorText.of(error), named: name)
      Console.say("\(reason) Trying again in \(HumanFormat.duration(pause)).", .warning, failed)
    case .unreadableSettings(let error):
      Console.warn("the settings stay as they were: \(ErrorText.of(error))", JournalFields(.settingsRefused))
    }
  }
}
