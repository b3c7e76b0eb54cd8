import Destinations
import Foundation
import HealthModel
import OperatingSystem

/// An event that an automation waits for.
public enum AutomationTrigger: Hashable, Sendable {
  /// A sample is added or deleted, and then nothing more for a while.
  ///
  /// - Parameter types: `nil` for all types.
  case change(types: Set<SampleType>?, debounce: Duration)
  /// An interval has passed since the last run.
  case interval(seconds: Int)
  /// A time of day.
  case time(DailyTimes)
  /// A paired machine or phone comes onto the network.
  case peer(String)
  /// A value crosses a threshold.
  case threshold(Threshold)
  /// A file is put into a folder.
  case file(WatchedFolder)

  /// The kinds of triggers, with their names in the settings file.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A change of the record.
    case change
    /// An interval since the last run.
    case interval
    /// A time of day.
    case time
    /// The appearance of a machine on the network.
    case peer
    /// A threshold that a value crosses.
    case threshold
    /// A file that is put into a folder.
    case file

    /// A description for people.
    public var summary: String {
      switch self {
      case .change: "something is added or deleted, and then nothing for a while"
      case .interval: "a time has passed since the last time"
      case .time: "it is a time of day, in the home zone"
      case .peer: "a paired machine or phone comes onto the network"
      case .threshold: "a value goes over a line, or under it"
      case .file: "a file is put into a folder"
      }
    }

    /// The settings for this kind of trigger.
    public var fields: [SettingField] {
      switch self {
      case .change:
        [
          SettingField("types", .list, "Only changes of these types: short names or HealthKit identifiers."),
          SettingField("debounce", .text, "How long nothing more must have come: 10s, 5m.", default: "10s"),
        ]
      case .interval: [SettingField("every", .text, "How long: 30s, 15m, 6h, 7d.", required: true)]
      case .time:
        [
          SettingField("at", .list, "Times of day: [\"07:30\", \"22:00\"].", required: true),
          SettingField("days", .list, "Only on these: mon, tue, wed, thu, fri, sat, sun."),
        ]
      case .peer: [SettingField("peer", .text, "The name of a machine in `hpeer peers`.", required: true)]
      case .threshold:
        [
          SettingField(
            "type", .text, "A type with numbers: what adds up counts for the day, else the newest sample.",
            required: true),
          SettingField("above", .number(Threshold.range), "Goes over this."),
          SettingField("below", .number(Threshold.range), "Goes under this."),
          SettingField(
            "hysteresis", .number(0...1e12),
            "How far it must have come back before it counts again.", default: "0"),
          SettingField("unit", .text, "The unit of these numbers; HealthKit's usual one by default."),
        ]
      case .file:
        [
          SettingField("folder", .path, "The folder; ~ is this user's home.", required: true),
          SettingField("pattern", .text, "Only files whose names are such: *.zip.", default: "*"),
        ]
      }
    }
  }

  init(_ kind: Kind, _ settings: DestinationSettings) throws(SettingsError) {
    switch kind {
    case .change:
      self = .change(
        types: settings.list("types").isEmpty ? nil : try SampleType.all(named: settings.list("types"), in: "types"),
        debounce: .seconds(try TimeSpan.seconds(settings, "debounce", in: 0...86_400)))
    case .interval: self = .interval(seconds: try TimeSpan.seconds(settings, "every", in: 10...366 * 86_400))
    case .time: self = .time(try DailyTimes(settings))
    case .peer: self = .peer(try settings.text("peer"))
    case .threshold: self = .threshold(try Threshold(settings))
    case .file:
      self = .file(
        WatchedFolder(
          path: UserPath.absolute(try settings.text("folder")), pattern: try settings.text("pattern")))
    }
  }

  /// The kind of trigger.
  public var kind: Kind {
    switch self {
    case .change: .change
    case .interval: .interval
    case .time: .time
    case .peer: .peer
    case .threshold: .threshold
    case .file: .file
    }
  }
}

extension AutomationTrigger: CustomStringConvertible {
  /// A short description: `every 15m`, `at 03:00`, `iPhone appears`.
  public var description: String {
    switch self {
    case .change(let types, _):
      if let types { "change of \(types.map(\.shortName).sorted().joined(separator: ", "))" } else { "change" }
    case .interval(let seconds): "every \(TimeSpan.text(seconds))"
    case .time(let times): "\(times)"
    case .peer(let name): "\(name) appears"
    case .threshold(let threshold): "\(threshold)"
    case .file(let folder): "file in \(folder.path)"
    }
  }
}

/// A duration in the notation of the settings file: `30s`, `15m`, `6h`, `7d`.
enum TimeSpan {
  private static let units: [(name: Character, seconds: Int)] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]

  static func seconds(_ text: String) -> Int? {
    guard let unit = units.first(where: { $0.name == text.last }), let number = Int(text.dropLast()), number >= 0,
      text.dropLast().allSatisfy(\.isASCII), text.first?.isNumber == true
    else { return nil }
    let (seconds, overflow) = number.multipliedReportingOverflow(by: unit.seconds)
    return overflow ? nil : seconds
  }

  static func seconds(
    _ settings: DestinationSettings, _ key: String, in range: ClosedRange<Int>
  ) throws(SettingsError) -> Int {
    guard let seconds = seconds(try settings.text(key)) else {
      throw SettingsError(key, .invalid("must be a number with s, m, h or d, such as 15m"))
    }
    guard range.contains(seconds) else {
      throw SettingsError(key, .invalid("must be from \(text(range.lowerBound)) to \(text(range.upperBound))"))
    }
    return seconds
  }

  static func text(_ seconds: Int) -> String {
    let unit = units.first { seconds >= $0.seconds && seconds % $0.seconds == 0 } ?? ("s", 1)
    return "\(seconds / unit.seconds)\(unit.name)"
  }
}
