import ArgumentParser
import Destinations
import Foundation
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct DestinationAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a destination: asks for what it needs, tries it out, and writes it at the end of config.toml.",
    discussion: """
      Secrets are asked for without being shown, and kept in a file of their own that only you can read; in config.toml, \
      and with --set, stands where they are: file:PATH, env:NAME or credential:NAME.

      Examples:
        hpeer destination add folder
        hpeer destination add folder backup --set path=/mnt/nas/health
        hpeer destination add command keep --set command=/opt/keep --set batch=500
        hpeer destination add folder --set path=~/health --set from=2024-01-01
      """)

  @OptionGroup var common: CommonOptions
  @Argument(
    help: "What kind it is, of `hpeer destination kinds`; asked for where it is left out.",
    completion: .destinationKinds)
  var kind: String?
  @Argument(help: "What it is called here; its kind by default.")
  var name: String?
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "A setting from `hpeer destination kinds KIND`; may be repeated. Separate the items of a list with commas.",
      valueName: "key=value"))
  var settings: [SettingAssignment] = []
  @Flag(inversion: .prefixedNo, help: "Test it before it is added.")
  var test = true

  static func kind(_ name: String) throws -> any Destination.Type {
    if let kind = DestinationKinds.named(name) { return kind }
    let names = DestinationKinds.all.map { $0.description.kind.rawValue }
    let similar = SimilarNames.suggestions(for: name, among: names)
    throw ValidationError(
      "There is no kind of destination called \(PlainText.escaped(name, limit: 80))"
        + (similar.isEmpty
          ? ": there are \(names.joined(separator: ", "))." : "; did you mean \(similar.joined(separator: " or "))?"))
  }

  /// Returns the kind that was named, or that a person chooses from a list.
  private func chosenKind() async throws -> any Destination.Type {
    if let kind { return try Self.kind(kind) }
    let kinds = DestinationKinds.all.map { "  \($0.description.kind.rawValue): \($0.description.summary)" }
    guard Console.isInteractive else {
      throw ValidationError("Name the kind of destination:\n\(kinds.joined(separator: "\n"))")
    }
    for line in kinds { Console.say(line) }
    while true {
      let text = try await Prompt.readLine(prompt: "kind: ").trimmingCharacters(in: .whitespaces)
      do {
        return try Self.kind(text)
      } catch {
        if text.isEmpty { throw error }
        Console.say(ErrorText.of(error))
      }
    }
  }

  func run() async throws {
    let kind = try await chosenKind()
    let description = kind.description
    let name = name ?? description.kind.rawValue
    guard DestinationSection.isName(name) else {
      throw ValidationError("A name has up to 64 letters, digits, - and _.")
    }
    let home = common.homeDirectory
    // This is checked before anything is asked.
    let file = try home.settings()
    guard file.destination(name) == nil else {
      throw ValidationError("There is a destination called \(name) already: give this one another name.")
    }
    var values = try SettingAssignment.values(settings, of: description.fields + CommonSettings.fields)
    var kept: [String] = []
    do {
      try await ask(kind, name, home, &values, &kept)
      let edited = try file.appending(name, kind: description.kind, values)
      guard let section = edited.destination(name) else { return }
      let store = try home.createStore()
      if test { try await tryOut(section, home, store) }
      try home.editSettings { [values] text in
        try SettingsFile(text: text, path: home.settingsPath).appending(name, kind: description.kind, values).text
      }
      try await store.audit.record(
        AuditEvent(.destinationChanged, ["destination": section.consumer, "change": "added"]))
    } catch {
      for key in kept { unlink(home.secretPath(name, key)) }
      throw Self.worded(error, name)
    }
    Console.say(
      "Added \(name) to \(PlainText.escaped(home.settingsPath, limit: 4_096)). `hpeer sync` delivers to it; a running `hpeer run` picks it up on SIGHUP."
    )
  }

  /// Returns an error without a line number if it is about a setting that was given: the file does not have the
  /// setting yet.
  private static func worded(_ error: any Error, _ name: String) -> any Error {
    let prefix = "destination.\(name)."
    switch error {
    case let error as SettingsFileError:
      guard let key = error.key, key.hasPrefix(prefix) else { return error }
      return ValidationError("\(key.dropFirst(prefix.count)) \(PlainText.escaped(error.reason, limit: 500))")
    case DeliveryRefusal.settings(_, let error): return ValidationError(PlainText.escaped("\(error)", limit: 500))
    default: return error
    }
  }

  private func tryOut(_ section: DestinationSection, _ home: Home, _ store: HealthStore) async throws {
    do {
      try await interruptible("nothing was added.") {
        try await DeliverOperation(section, home: home, store: store).check()
      }
    } catch let error as DeliveryError {
      let reason = PlainText.escaped(error.description, limit: 500)
      throw CommandFailure(
        ExitStatus.of(error),
        "Nothing was added: \(reason)\(reason.last == "?" ? "" : ".") Use --no-test to add it anyway.")
    }
  }

  /// Asks for required settings that were not given; for secrets last, once the rest makes sense.
  ///
  /// - Returns: The keys whose secrets were stored in files.
  private func ask(
    _ kind: any Destination.Type, _ name: String, _ home: Home,
    _ values: inout [(key: String, value: DestinationSettings.Value)], _ kept: inout [String]
  ) async throws {
    try await SettingQuestions.ask(kind.description.fields, &values) { values in
      do {
        try DestinationSection.validate(values, of: kind)
      } catch {
        throw ValidationError("\(error)")
      }
    } secret: { field in
      let secret = try await Prompt.readSecret(prompt: "\(field.key)\(field.isRequired ? "" : " (none: Enter)"): ")
      if secret.isEmpty, !field.isRequired { return nil }
      let reference = SecretReference(secret) == nil ? try home.keepSecret(secret, of: name, field.key) : secret
      if reference != secret { kept.append(field.key) }
      return .text(reference)
    }
  }
}

struct DestinationRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a destination: its section of config.toml, its position, and secrets that were asked for.",
    discussion: """
      What was delivered stays where it is. With --purge, what hpeer put there of this record is deleted first: \
      events, resources, sensors, statistics, retained messages. Files stay, as others may have written into them.

      Examples:
        hpeer destination remove backup
        hpeer destination remove calendar --purge
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var destination: DestinationArgument
  @Flag(help: "First delete what hpeer wrote there; asks before it does.")
  var purge = false
  @OptionGroup var asking: YesOption

  func run() async throws {
    let home = common.homeDirectory
    let name = destination.name
    // A destination can also be removed if its settings are wrong or its section is gone.
    let file = try? home.settings()
    let section = file?.destination(name)
    if section != nil, let users = file?.automations(deliveringTo: name), !users.isEmpty {
      let words = users.map { PlainText.escaped($0, limit: 60) }.joined(separator: " and ")
      throw CommandFailure(
        .refused,
        "\(words) \(users.count == 1 ? "delivers" : "deliver") to \(name), so it was not removed: take it out of there first, "
          + "or remove the automation (`hpeer automation remove`).")
    }
    if purge {
      guard try await asking.confirm("Delete what hpeer wrote to \(name)?") else {
        return Console.say("\(name) stays, and what is there, too.")
      }
      try await takeAway(home)
    }
    var isLeftOver = false
    let store = try? home.openStore()
    for kind in DestinationKinds.all {
      let consumer = "\(kind.description.kind.rawValue):\(name)"
      if let store, try await RedeliveryRequests.isKnown(consumer, in: store) { isLeftOver = true }
    }
    if file != nil, section == nil, !isLeftOver { _ = try destination.section(home) }
    if section != nil || file == nil {
      var (before, after) = ("", "")
      try home.editSettings { text in
        (before, after) = (text, try SettingsFile.removing(name, from: text, path: home.settingsPath))
        return after
      }
      home.forgetSecrets(of: name, namedIn: before, andNotIn: after)
    }
    if let section { home.forgetSecrets(of: section) }
    if let store {
      for kind in DestinationKinds.all {
        try await RedeliveryRequests.forget("\(kind.description.kind.rawValue):\(name)", in: store)
      }
      try await store.audit.record(AuditEvent(.destinationChanged, ["destination": name, "change": "removed"]))
    }
    home.forgetDeliveries(of: name)
    Console.say(
      "\(name) is removed; "
        + (purge ? "what hpeer had put there is taken away." : "what was delivered there stays."))
  }

  private func takeAway(_ home: Home) async throws {
    let section = try destination.section(home)
    let store = try home.openStore()
    // A running hpeer lets go of a paused destination within seconds, and brings nothing back.
    let wasPaused = try await store.deliveries.state(of: section.consumer).paused != nil
    try await store.deliveries.setPaused(true, section.consumer)
    do {
      try await interruptible("what was taken away is gone, and the same command goes on.") {
        for attempt in 1... {
          do {
            return try await DeliverOperation(section, home: home, store: store).purge()
          } catch let error as DeliveryRefusal {
            guard case .busy = error, attempt < 20 else { throw error }
            try await Task.sleep(for: .seconds(1))
          }
        }
      }
    } catch {
      if !wasPaused { try await store.deliveries.setPaused(false, section.consumer) }
      throw error
    }
    try await store.audit.record(
      AuditEvent(.destinationChanged, ["destination": section.consumer, "change": "purged"]))
  }
}
