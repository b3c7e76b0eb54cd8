/// The tables of a settings file that hold sections with names.
public enum SettingsTable: String, Hashable, Sendable, CaseIterable {
  /// Somewhere else that the record goes.
  case destination
  /// Something that is done by itself.
  case automation

  var article: String { self == .automation ? "an" : "a" }
}

/// The commands whose options a settings file may say, each in a table of its name: `[serve]`.
public enum SettingsCommands {
  /// Those that hpeer has and that take options of their own.
  public static let names = [
    "chart", "coverage", "digest", "discover", "doctor", "export", "import", "latest", "pair", "pull", "report", "run",
    "serve", "show", "sleep", "sources", "stats", "status", "summary", "sync", "types", "verify", "workout", "workouts",
  ]
}

/// What a settings file says for one command: its keys are not checked yet.
public struct CommandTable: Hashable, Sendable {
  /// `serve` of `[serve]`.
  public let command: String
  /// By option, without its hyphens.
  public let values: [String: DestinationSettings.Value]
}

/// A section of a settings file as it stands there: its keys are not checked yet.
public struct SettingsSection: Hashable, Sendable {
  /// That it is one of.
  public let table: SettingsTable
  /// `morning` of `[automation.morning]`.
  public let name: String
  /// By key.
  public let values: [String: DestinationSettings.Value]
  /// Where it begins in the file, from 1.
  public let line: Int
}
