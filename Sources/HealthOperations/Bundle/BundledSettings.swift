import Destinations
import Foundation

/// The settings in a support bundle: which are set, and only values that are neither free text nor about health.
struct BundledSettings: Encodable {
  struct Section: Encodable {
    /// The section number, such as `destination 1`, because the name is private.
    var section: String
    var kind: String
    var isEnabled: Bool
    /// The values by key; `set` replaces a private value.
    var settings: [String: String]
  }

  struct Command: Encodable {
    var command: String
    /// The number of options that are set for the command.
    var options: Int
    var settings: [String: String]
  }

  var state: String
  /// The line of the first mistake.
  var line: Int?
  var destinations: [Section] = []
  var automations: [Section] = []
  var commands: [Command] = []

  /// The options whose values are numbers and switches of this program.
  private static let openOptions = [
    "port", "token-days", "audit-days", "metrics", "locked", "now", "no-advertise", "serve", "follow", "deliver",
    "automate",
  ]

  /// Reads the settings of a home. Blocking.
  init(_ home: Home) {
    let file: SettingsFile
    do {
      file = try home.settings()
    } catch {
      // The error message quotes the file, so only the line number is kept.
      (state, line) = ("unreadable", (error as? SettingsFileError)?.line)
      return
    }
    state = file.text.isEmpty ? "none" : "read"
    for (index, section) in file.destinations.enumerated() {
      destinations.append(Self.section(section, number: index + 1))
    }
    do throws(SettingsFileError) {
      for (index, automation) in try Automation.all(in: file).enumerated() {
        automations.append(
          Section(
            section: "automation \(index + 1)", kind: automation.trigger.kind.rawValue, isEnabled: automation.isEnabled,
            settings: [:]))
      }
    } catch {
      (state, line) = ("mistaken", error.line)
    }
    for table in file.commands {
      let open = table.values.filter { Self.openOptions.contains($0.key) }.compactMapValues(Self.open)
      commands.append(Command(command: table.command, options: table.values.count, settings: open))
    }
  }

  private static func section(_ section: DestinationSection, number: Int) -> Section {
    let description = section.kind.description
    var settings: [String: String] = [:]
    for field in description.fields where section.settings.has(field.key) {
      settings[field.key] =
        switch field.kind {
        case .boolean: "\(section.settings.boolean(field.key))"
        case .choice(let choices):
          // The value is one of the program's own words and thus not private.
          section.settings.optionalText(field.key).flatMap { choices.contains($0) ? $0 : nil } ?? "set"
        case .text, .url, .integer, .number, .path, .secret, .list, .table: "set"
        }
    }
    return Section(
      section: "destination \(number)", kind: description.kind.rawValue, isEnabled: section.common.isEnabled,
      settings: settings)
  }

  private static func open(_ value: DestinationSettings.Value) -> String? {
    switch value {
    case .integer(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .text, .number, .list, .table: nil
    }
  }
}
