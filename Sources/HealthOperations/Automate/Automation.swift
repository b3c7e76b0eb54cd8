import Destinations
import HealthModel
import PeerTrust

/// A trigger and an action that hpeer runs by itself, from one section of the settings file.
///
/// ```toml
/// [automation.nightly]
/// when = "time"
/// at = ["03:00"]
/// do = "deliver"
/// destinations = ["bucket"]
/// ```
public struct Automation: Hashable, Sendable {
  /// The name: `nightly` for `[automation.nightly]`.
  public let name: String
  /// Whether the automation is run at all.
  public let isEnabled: Bool
  /// The event that the automation waits for.
  public let trigger: AutomationTrigger
  /// The action that it then runs.
  public let action: AutomationAction

  /// The key of its activity state and its consumer name in the feed.
  public var activity: String { Self.activityPrefix + name }
  /// The prefix of the activity keys of all automations.
  public static let activityPrefix = "automation:"

  /// The settings that all automations have.
  public static let fields = [
    SettingField(
      "when", .choice(AutomationTrigger.Kind.allCases.map(\.rawValue)), "What it waits for.", required: true),
    SettingField("do", .choice(AutomationAction.Kind.allCases.map(\.rawValue)), "What it does then.", required: true),
    SettingField("enabled", .boolean, "Whether it is done.", default: "true"),
  ]

  /// Parses a section of the settings file.
  ///
  /// - Parameter destinations: the names of the existing destinations.
  /// - Throws: ``SettingsError`` for the first invalid setting.
  public init(
    name: String, _ values: [String: DestinationSettings.Value], destinations: [String]
  ) throws(SettingsError) {
    func choice<Kind: RawRepresentable & CaseIterable>(_ key: String, _: Kind.Type) throws(SettingsError) -> Kind
    where Kind.RawValue == String {
      let field = Self.fields.first { $0.key == key }
      guard let value = values[key] else { throw SettingsError(key, .missing(field?.help ?? "")) }
      try field?.check(value)
      guard case .text(let text) = value, let kind = Kind(rawValue: text) else {
        throw SettingsError(key, .invalid("must be a text"))
      }
      return kind
    }
    let when = try choice("when", AutomationTrigger.Kind.self)
    let what = try choice("do", AutomationAction.Kind.self)
    let fields = Self.fields + when.fields + what.fields(after: when)
    let settings = try DestinationSettings(name: name, values, fields: fields)
    self.name = name
    isEnabled = settings.boolean("enabled")
    trigger = try AutomationTrigger(when, settings)
    action = try AutomationAction(what, after: when, settings, destinations: destinations)
  }

  /// Returns all automations of a settings file, by name. Throws `SettingsFileError` for the first mistake.
  public static func all(in file: SettingsFile) throws(SettingsFileError) -> [Automation] {
    let (automations, mistakes) = readable(in: file)
    if let mistake = mistakes.first { throw mistake }
    return automations
  }

  /// Returns the automations of a home's settings that have no mistake. Throws `SettingsFileError`, `SystemError`.
  /// Blocking.
  static func readable(in home: Home) throws -> [Automation] { readable(in: try home.readableSettings()).automations }

  /// Returns the automations that have no mistake, and the mistakes of the others.
  public static func readable(
    in file: SettingsFile
  ) -> (automations: [Automation], mistakes: [SettingsFileError]) {
    let destinations = file.destinationNames
    var automations: [Automation] = []
    var mistakes: [SettingsFileError] = []
    for section in file.sections where section.table == .automation {
      if file.mistakes.contains(where: { $0.isIn("automation.\(section.name)") }) { continue }
      do throws(SettingsError) {
        automations.append(try Automation(name: section.name, section.values, destinations: destinations))
      } catch {
        mistakes.append(file.error(error, in: section))
      }
    }
    return (automations, mistakes)
  }
}

extension SettingsFile {
  /// Returns the names of the automations that deliver to a destination, including automations with other mistakes.
  public func automations(deliveringTo destination: String) -> [String] {
    sections.filter { section in
      guard section.table == .automation, case .list(let names)? = section.values["destinations"] else { return false }
      return names.contains(destination)
    }.map(\.name)
  }
}

extension [Automation] {
  /// The destinations that only automations deliver to.
  public var timedDestinations: Set<String> {
    Set(
      filter(\.isEnabled).flatMap { automation -> [String] in
        if case .deliver(let names) = automation.action { return names }
        return []
      })
  }

  /// Returns whether only an automation pulls from a machine.
  public func times(pullsFrom server: ServerRecord) -> Bool {
    contains { automation in
      guard automation.isEnabled, case .pull(let names) = automation.action else { return false }
      return names.isEmpty || names.contains(where: server.isCalled)
    }
  }
}
