import Destinations
import Foundation
import HealthModel
import HealthOperations
import HealthStore
import Terminal

/// An automation and its state, for `--json` and for people.
struct AutomationReport: Encodable {
  enum State: String, Encodable {
    case waiting
    /// The automation has a reason to run, and has not run yet.
    case due
    case failing
    case paused
    /// The section has `enabled = false`.
    case disabled
  }

  var name: String
  /// The trigger: `every 15m`.
  var when: String
  /// The action: `deliver to bucket`.
  var `do`: String
  var state: State
  /// The start of the last run.
  var last: Timestamp?
  var lastSuccess: Timestamp?
  /// The time of the next run, if the automation waits for a time.
  var next: Timestamp?
  var failingSince: Timestamp?
  var failures: Int?
  var reason: String?
  var pausedSince: Timestamp?
  /// The number of successful runs.
  var runs: Int

  /// Returns the automations in the settings, by name.
  ///
  /// - Parameter store: The store; `nil` before the first import or pull.
  static func all(_ file: SettingsFile, _ store: HealthStore?) async throws -> [AutomationReport] {
    let automations = Automation.readable(in: file).automations
    guard !automations.isEmpty else { return [] }
    let states = try await store?.activities.all(beginning: Automation.activityPrefix) ?? []
    var zone = TimeZone.current
    if let store { zone = try HomeZone(try await store.settings.current()).timeZone }
    return automations.map { automation in
      AutomationReport(automation, states.first { $0.name == automation.activity }, zone)
    }
  }

  private init(_ automation: Automation, _ found: ActivityState?, _ zone: TimeZone) {
    name = automation.name
    (when, self.do) = ("\(automation.trigger)", "\(automation.action)")
    state =
      switch found {
      case _ where !automation.isEnabled: .disabled
      case let found? where found.paused != nil: .paused
      case let found? where found.failing != nil: .failing
      case let found? where found.due != nil: .due
      default: .waiting
      }
    (last, lastSuccess, pausedSince) = (found?.started, found?.succeeded, found?.paused)
    (failingSince, reason) = (found?.failing, found?.reason)
    failures = found.flatMap { $0.failures > 0 ? $0.failures : nil }
    runs = found?.runs ?? 0
    if state != .disabled, state != .paused {
      next = found?.due ?? automation.nextTime(after: found, now: .now, in: zone)
    }
  }
}

/// The messages of `hpeer run` about automations: a line when one has done something, or cannot.
enum AutomationPresentation {
  static func tell(_ automation: String, _ event: AutomationEvent) {
    let name = PlainText.escaped(automation)
    switch event {
    case .began: break
    case .ended(let result):
      Console.say(
        "\(name): \(PlainText.escaped(result, limit: 300)).", .information,
        JournalFields(.automationFinished, automation: automation))
    case .failed(let error, let pause):
      let again = pause.map { " Trying again in \(HumanFormat.duration($0))." } ?? ""
      Console.say(
        "\(name): \(ErrorText.of(error))\(again)", .warning, JournalFields(.automationFailed, automation: automation))
    case .unreadableSettings(let error):
      Console.warn("the automations stay as they were: \(ErrorText.of(error))", JournalFields(.settingsRefused))
    }
  }
}
