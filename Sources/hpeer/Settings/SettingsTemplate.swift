import Foundation
import Destinations
import HealthOperations

/// A settings file that has every setting as a comment, with its explanation.
enum SettingsTemplate {
  static func text() throws -> String {
    var lines = [
      "# Settings of hpeer. Every line is a comment: take the # away from what you want to set.",
      "# `hpeer config check` says whether the file makes sense, `hpeer config show` what is set.",
      "# On the command line, options count first; then variables, such as HPEER_SERVE_PORT; then this file.",
      "# `hpeer run` takes up destinations and automations at SIGHUP, options with its next start.",
      "",
      "# Options of commands, without their hyphens.",
    ]
    for command in Hpeer.configuration.subcommands where SettingsCommands.names.contains(command._commandName) {
      let options = try CommandOption.all(of: command)
      guard !options.isEmpty else { continue }
      lines += ["", "#[\(command._commandName)]"]
      for option in options {
        lines += comment(option.help)
        let value = option.isFlag ? option.defaultValue ?? "false" : quoted(option.defaultValue ?? "")
        lines.append("#\(option.name) = \(value)")
      }
    }
    lines += [
      "", "# Where else the record goes: a section for each, [destination.NAME]. `hpeer destination add` writes one.",
    ]
    for kind in DestinationKinds.all.map({ $0.description }) {
      lines += ["", "#[destination.\(kind.kind.rawValue)]"] + comment(kind.summary)
      lines.append("#kind = \"\(kind.kind.rawValue)\"")
      lines += kind.fields.flatMap(setting) + CommonSettings.fields(of: kind).flatMap(setting)
    }
    lines += [
      "", "# What hpeer does by itself: a section for each, [automation.NAME]. `hpeer automation add` writes one.",
    ]
    lines += ["", "#[automation.NAME]"] + Automation.fields.flatMap(setting)
    for kind in AutomationTrigger.Kind.allCases {
      lines += comment("when = \"\(kind.rawValue)\": \(kind.summary).") + kind.fields.flatMap(setting)
    }
    for kind in AutomationAction.Kind.allCases {
      lines += comment("do = \"\(kind.rawValue)\": \(kind.summary).") + kind.fields(after: .change).flatMap(setting)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns a value as a person would write it.
  static func text(_ value: DestinationSettings.Value) -> String {
    switch value {
    case .text(let text): text
    case .integer(let number): String(number)
    case .number(let number): String(number)
    case .boolean(let flag): String(flag)
    case .list(let texts): texts.joined(separator: ",")
    case .table(let texts): texts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    }
  }

  private static func setting(_ field: SettingField) -> [String] {
    let value =
      switch field.kind {
      case .integer, .number, .boolean: field.defaultValue ?? "0"
      case .list: "[\(field.defaultValue.map(quoted) ?? "")]"
      case .table: "{}"
      default: quoted(field.defaultValue ?? "")
      }
    return comment(field.help + (field.isRequired ? " Needed." : "")) + ["#\(field.key) = \(value)"]
  }

  private static func comment(_ text: String) -> [String] {
    text.split(separator: "\n").map { "# \($0)" }
  }

  private static func quoted(_ text: String) -> String {
    if Int(text) != nil { return text }
    return "\"\(text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\""))\""
  }
}

extension String {
  func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
