import Foundation
import HealthModel

/// The reason why an automation runs now.
public enum AutomationOccasion: Hashable, Sendable {
  /// Samples were added or deleted.
  case change
  /// A planned time was reached.
  case time(Timestamp)
  /// A machine has appeared on the network.
  case peer(String)
  /// A value has crossed the threshold.
  case value(Double, of: SampleType, unit: String?)
  /// A file has appeared.
  case file(path: String)
  /// A person has started the automation.
  case asked

  /// The name for the audit log, for programs and for people: `change`, `time`, `peer`, `threshold`, `file`, `asked`.
  public var name: String {
    switch self {
    case .change: "change"
    case .time: "time"
    case .peer: "peer"
    case .value: "threshold"
    case .file: "file"
    case .asked: "asked"
    }
  }

  /// The details for the audit log, which contains no values.
  var detail: [String: String] {
    switch self {
    case .change, .asked: [:]
    case .time(let time): ["planned": "\(time)"]
    case .peer(let name): ["peer": name]
    case .value(_, let type, _): ["type": type.rawValue]
    case .file(let path): ["file": (path as NSString).lastPathComponent]
    }
  }

  /// The environment variables for a program.
  var variables: [String: String] {
    var variables = ["HPEER_OCCASION": name]
    switch self {
    case .change, .asked: break
    case .time(let time): variables["HPEER_PLANNED"] = "\(time)"
    case .peer(let name): variables["HPEER_PEER"] = name
    case .value(let number, let type, let unit):
      variables["HPEER_TYPE"] = type.rawValue
      variables["HPEER_VALUE"] = "\(number)"
      variables["HPEER_UNIT"] = unit
    case .file(let path): variables["HPEER_FILE"] = path
    }
    // Names of machines and files are untrusted and may contain NUL.
    return variables.filter { !$0.value.utf8.contains(0) }
  }
}
