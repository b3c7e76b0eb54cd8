/// A table of a settings file that contains named sections.
public enum SettingsTable: String, Hashable, Sendable, CaseIterable {
  /// The destinations, to which the record is delivered.
  case destination
  /// The automations, which run tasks without being asked.
  case automation

  var article: String { self == .automation ? "an" : "a" }
}

/// The commands whose options a settings file can contain, each in a table with its name: `[serve]`.
public enum SettingsCommands {
  /// The commands that have options of their own.
  public static let names = [
    "chart", "coverage", "digest", "discover", "doctor", "export", "import", "latest", "pair", "pull", "report", "run",
    "serve", "show", "sleep", "sources", "stats", "status", "summary", "sync", "types", "verify", "workout", "workouts",
  ]
}

/// The options of one command in a settings file. The keys are not checked yet.
public struct CommandTable: Hashable, Sendable {
  /// The command: `serve` in `[serve]`.
  public let command: String
  /// The values by option, without leading hyphens.
  public let values: [String: DestinationSettings.Value]
}

/// A section of a settings file as it was read. The keys are not checked yet.
public struct SettingsSection: Hashable, Sendable {
  /// The table that contains the section.
  public let table: SettingsTable
  /// The name: `morning` in `[automation.morning]`.
  public let name: String
  /// The values by key.
  public let values: [String: DestinationSettings.Value]
  /// The line at which the section begins, from 1.
  public let line: Int
}
