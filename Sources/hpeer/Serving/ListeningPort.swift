import ArgumentParser
import Destinations

/// The ports that a command may be told to listen on; 0 picks a free one.
enum ListeningPort {
  static let range = 0...65_535
  /// The options of commands that name one.
  private static let options: Set = ["port", "inbox-port", "metrics"]

  /// Throws a usage error where an option has another number.
  static func require(_ port: Int, _ option: String) throws {
    guard range.contains(port) else { throw ValidationError("\(option) \(takes).") }
  }

  /// What the setting of an option says, which may be written as a text, too; `nil` of another option.
  ///
  /// - Throws: `SettingsError` where it is no port.
  static func port(_ value: DestinationSettings.Value?, of option: String) throws(SettingsError) -> Int? {
    guard options.contains(option), let value else { return nil }
    switch value {
    case .integer(let number) where range.contains(number): return number
    case .text(let text):
      if let number = Int(text), range.contains(number) { return number }
      fallthrough
    default: throw SettingsError(option, .invalid(takes))
    }
  }

  private static var takes: String { "takes a number from \(range.lowerBound) to \(range.upperBound)" }
}
