import Destinations
import HealthOperations
import Terminal

/// The settings for a command that does the rest where a destination or a table has a mistake.
enum SettingsNotice {
  /// Says what was left out, with its line. Throws `SettingsFileError` where nothing can be read.
  static func readable(_ home: Home) throws -> SettingsFile {
    let file = try home.readableSettings()
    for mistake in mistakes(of: file) { Console.warn("left out: \(mistake)") }
    return file
  }

  /// What is left out of a file, automations included.
  static func mistakes(of file: SettingsFile) -> [SettingsFileError] {
    file.mistakes + Automation.readable(in: file).mistakes
  }
}
