import Destinations
import HealthModel
import PeerTrust

/// Something that hpeer does by itself: when, and what. One section of the settings file.
///
/// ```toml
/// [automation.nightly]
/// when = "time"
/// at = ["03:00"]
/// do = "deliver"
/// destinations = ["bucket"]
/// ```
public struct Automation: Hashable, Sendable {
  /// `nightly` of `[automation.nightly]`.
  public let name: String
  /// Whether it is done at all.
  public let isEnabled: Bool
  /// What it waits for.
  public let trigger: AutomationTrigger
  /// What it does then.
  public let action: AutomationAction

  /// What its state is kept under, and what the feed knows it by.
  public var activity: String { Self.activityPrefix + name }
  /// What the activities of all automations begin with.
  public static let activityPrefix = "automation:"

  /// The settings that all have, whatever they do.
  public static let fields = [
    SettingField(
      "when", .choice(AutomationTrigger.Kind.allCases.map(\.rawValue)), "What it waits for.", required: true),
    SettingField("do", .choice(AutomationAction.Kind.allCases.map(\.rawValue)), "What it does then.", required: true),
    SettingField("enabled", .boolean, "Whether it is done.", default: "true"),
  ]

  /// Checks a section of the settings file.
  ///
  /// - Parameter destinations: the names that there are.
  /// - Throws: ``SettingsError`` of the first setting that makes no sense.
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

  /// All of a settings file, by name. Throws `SettingsFileError` of the first mistake.
  public static func all(in file: SettingsFile) throws(SettingsFileError) -> [Automation] {
    let (automations, mistakes) = readable(in: file)
    if let mistake = mistakes.first { throw mistake }
    return automations
  }

  /// The same of this home's settings, without those that have a mistake. Throws `SettingsFileError`, `SystemError`. Blocking.
  static func readable(in home: Home) throws -> [Automation] { readable(in: try home.readableSettings()).automations }

  /// The same without those that have a mistake, and what that is.
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
  /// The names of the automations that deliver to a destination, also where something else is wrong with them.
  public func automations(deliveringTo destination: String) -> [String] {
    sections.filter { section in
      guard section.table == .automation, case .list(let names)? = section.values["destinations"] else { return false }
      return names.contains(destination)
    }.map(\.name)
  }
}

extension [Automation] {
  /// The destinations that are delivered to only when an automation says so.
  public var timedDestinations: Set<String> {
    Set(
      filter(\.isEnabled).flatMap { automation -> [String] in
        if case .deliver(let names) = automation.action { return names }
        return []
      })
  }

  /// Whether a machine is pulled from only when an automation says so.
  public func times(pullsFrom server: ServerRecord) -> Bool {
    contains { automation in
      guard automation.isEnabled, case .pull(let names) = automation.action else { return false }
      return names.isEmpty || names.contains(where: server.isCalled)
    }
  }
}
