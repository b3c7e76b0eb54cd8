import HealthOperations
import Terminal

/// What `hpeer run` says of automations: a line when one has done something, or cannot.
enum AutomationPresentation {
  static func tell(_ automation: String, _ event: AutomationEvent) {
    let name = PlainText.escaped(automation)
    switch event {
    case .began: break
    case .ended(let result):
      Console.say(
        "\(name): \(PlainText.escaped(result, limit: 300)).", .information,
        EntryFields(.automationFinished, automation: automation))
    case .failed(let error, let pause):
      let again = pause.map { " Trying again in \(HumanFormat.duration($0))." } ?? ""
      Console.say(
        "\(name): \(ErrorText.of(error))\(again)", .warning, EntryFields(.automationFailed, automation: automation))
    case .unreadableSettings(let error):
      Console.warn("the automations stay as they were: \(ErrorText.of(error))", EntryFields(.settingsRefused))
    }
  }
}
