import Foundation
import HealthModel

/// Why an automation is to be done now.
public enum AutomationOccasion: Hashable, Sendable {
  /// Something was added or deleted.
  case change
  /// Its time has come.
  case time(Timestamp)
  /// A machine has come onto the network.
  case peer(String)
  /// A value has crossed the line.
  case value(Double, of: SampleType, unit: String?)
  /// A file is there.
  case file(path: String)
  /// Somebody has asked for it.
  case asked

  /// For the audit log, for a program's environment and for people: `change`, `time`, `peer`, `threshold`, `file`, `asked`.
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

  /// For the audit log, which holds no values.
  var detail: [String: String] {
    switch self {
    case .change, .asked: [:]
    case .time(let time): ["planned": "\(time)"]
    case .peer(let name): ["peer": name]
    case .value(_, let type, _): ["type": type.rawValue]
    case .file(let path): ["file": (path as NSString).lastPathComponent]
    }
  }

  /// For a program: variables of its environment.
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
    // Names of machines and files are anybody's words.
    return variables.filter { !$0.value.utf8.contains(0) }
  }
}
