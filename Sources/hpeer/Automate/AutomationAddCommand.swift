import ArgumentParser
import Destinations
import HealthModel
import HealthOperations
import HealthStore
import OperatingSystem
import Terminal

struct AutomationAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add an automation: asks for what it needs, and writes it at the end of config.toml.",
    discussion: """
      A destination or machine that an automation names is delivered to, or pulled from, only when the automation runs. \
      `hpeer run` no longer does it all the time.

      Examples:
        hpeer automation add nightly --when time --do deliver --set at=03:00 \\
          --set destinations=bucket
        hpeer automation add work --when interval --do pull --set every=15m \\
          --set peers=studio
        hpeer automation add phone --when peer --do pull \\
          --set peer=HealthSync-iOS --set peers=HealthSync-iOS
        hpeer automation add drop --when file --do import --set folder=~/Downloads \\
          --set pattern=export*.zip
        hpeer automation add pulse --when threshold --do command \\
          --set type=restingHeartRate --set above=70 --set hysteresis=3 \\
          --set command=/usr/local/bin/notify
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "What it is called here; asked for where it is left out.")
  var name: String?
  @Option(help: "What it waits for, of `hpeer automation kinds`.")
  var when: String?
  @Option(name: .customLong("do"), help: "The action, from `hpeer automation kinds`.")
  var what: String?
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "A setting, of `hpeer automation kinds`; may be repeated. A list is comma-separated.", valueName: "key=value"))
  var settings: [SettingAssignment] = []

  func run() async throws {
    let home = common.homeDirectory
    let file = try home.settings()
    let name = try await chosenName()
    let known = try Automation.all(in: file)
    guard !known.contains(where: { $0.name == name }) else {
      throw ValidationError("There is an automation called \(name) already: give this one another name.")
    }
    let trigger = try await kind(when, "when", AutomationTrigger.Kind.allCases) { $0.summary }
    let action = try await kind(what, "do", AutomationAction.Kind.allCases) { $0.summary }
    let fields = trigger.fields + action.fields(after: trigger)
    var values = try SettingAssignment.values(settings, of: fields + Automation.fields)
    let kinds: [(key: String, value: DestinationSettings.Value)] = [
      ("when", .text(trigger.rawValue)), ("do", .text(action.rawValue)),
    ]
    // Mistakes are reported before anything is written.
    try await SettingQuestions.ask(fields, &values) { values in
      do {
        _ = try Automation(
          name: name, Dictionary((kinds + values).map { ($0.key, $0.value) }) { $1 },
          destinations: file.destinations.map(\.name))
      } catch {
        throw ValidationError("\(error)")
      }
    }
    values = kinds + values
    if action == .command { try Self.requireProgram(values) }
    let store = try home.createStore()
    try home.editSettings { [values, name] text in
      try SettingsFile(text: text, path: home.settingsPath).appending(.automation, name, values).text
    }
    _ = try await store.activities.known(Automation.activityPrefix + name)
    try await store.audit.record(AuditEvent(.automationChanged, ["automation": name, "change": "added"]))
    Console.say(
      "Added \(name) to \(PlainText.escaped(home.settingsPath, limit: 4_096)). `hpeer run` runs it on time; if it is already running, it picks it up on SIGHUP."
    )
  }

  /// Throws if a command line does not begin with a program that can be run.
  private static func requireProgram(_ values: [(key: String, value: DestinationSettings.Value)]) throws {
    var program: String?
    switch values.first(where: { $0.key == "command" })?.value {
    case .list(let words)?: program = words.first
    case .text(let text)?: program = text
    default: break
    }
    guard let program, ChildProgram.path(of: program) == nil else { return }
    throw ValidationError(
      "\(PlainText.escaped(program, limit: 200)) is no program that can be run here: give its path, and its arguments after commas, such as --set command=/usr/bin/notify-send,done."
    )
  }

  private func chosenName() async throws -> String {
    var text = name
    if text == nil {
      guard Console.isInteractive else {
        let lines =
          [("--when", AutomationTrigger.Kind.allCases.map { ($0.rawValue, $0.summary) })]
          + [("--do", AutomationAction.Kind.allCases.map { ($0.rawValue, $0.summary) })]
        let kinds = lines.map { option, kinds in
          "\(option)\n" + kinds.map { "  \($0): \($1)" }.joined(separator: "\n")
        }
        throw ValidationError("Give it a name, and say when it does what:\n\(kinds.joined(separator: "\n"))")
      }
      text = try await Prompt.readLine(prompt: "name: ").trimmingCharacters(in: .whitespaces)
    }
    guard let text, DestinationSection.isName(text) else {
      throw ValidationError("A name has up to 64 letters, digits, - and _.")
    }
    return text
  }

  private func kind<Kind: RawRepresentable & Sendable>(
    _ given: String?, _ option: String, _ all: [Kind], summary: (Kind) -> String
  ) async throws -> Kind where Kind.RawValue == String {
    let names = all.map(\.rawValue)
    var text = given
    if text == nil {
      guard Console.isInteractive else {
        throw ValidationError("Give --\(option): one of \(names.joined(separator: ", ")).")
      }
      for kind in all { Console.say("  \(kind.rawValue): \(summary(kind))") }
      repeat {
        text = try await Prompt.readLine(prompt: "\(option): ").trimmingCharacters(in: .whitespaces)
        if text == "" { break }
        if text.flatMap(Kind.init(rawValue:)) == nil { Console.say("It is one of \(names.joined(separator: ", ")).") }
      } while text.flatMap(Kind.init(rawValue:)) == nil
    }
    guard let text, let kind = Kind(rawValue: text) else {
      let similar = SimilarNames.suggestions(for: text ?? "", among: names)
      throw ValidationError(
        "--\(option) takes one of \(names.joined(separator: ", "))\(similar.first.map { "; did you mean \($0)?" } ?? ".")"
      )
    }
    return kind
  }
}
