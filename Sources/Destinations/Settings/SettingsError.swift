import HealthModel

/// What is wrong with a setting. Holds no secret.
public struct SettingsError: Error, Hashable, Sendable {
  /// What about it.
  public enum Problem: Hashable, Sendable {
    /// - Parameter help: what the setting is.
    case missing(_ help: String)
    /// - Parameter known: the keys that there are.
    case unknown(known: [String])
    /// A verb and what follows: `is not a URL`.
    case invalid(String)
    /// A secret stands in the file itself, or something that names none.
    case secretInTheOpen
    /// A secret could not be read.
    ///
    /// - Parameter reason: a sentence without its end.
    case unreadableSecret(String)
  }

  /// As the file has it, without the table that it is in.
  public let key: String
  public let problem: Problem

  /// - Parameter key: of a field of the kind.
  public init(_ key: String, _ problem: Problem) {
    self.key = key
    self.problem = problem
  }
}

extension SettingsError: CustomStringConvertible {
  public var description: String {
    switch problem {
    case .missing, .unknown, .secretInTheOpen, .invalid: "\(key) \(reason)"
    case .unreadableSecret(let reason): "The secret of \(key) cannot be read: \(reason)."
    }
  }

  /// What follows the key in a sentence.
  var reason: String {
    switch problem {
    case .missing(let help): "is missing: \(help)"
    case .unknown(let known):
      if let similar = SimilarNames.suggestions(for: key, among: known).first {
        "is no setting here; did you mean \(similar)?"
      } else {
        "is no setting here: there are \(known.joined(separator: ", "))."
      }
    case .invalid(let what): what.last == "?" ? what : "\(what)."
    case .secretInTheOpen:
      "must say where the secret is, and not be it: file:PATH, env:NAME or credential:NAME."
    case .unreadableSecret(let reason): "its secret cannot be read: \(reason)."
    }
  }
}

/// What is wrong with a settings file, and where. Holds no secret.
public struct SettingsFileError: Error, Hashable, Sendable {
  /// Of the file.
  public let path: String
  /// From 1; `nil` where nothing in it is to blame.
  public let line: Int?
  /// From 1, of syntax only.
  public let column: Int?
  /// Of the setting, `destination.home.url`; `nil` of syntax.
  public let key: String?
  /// A sentence.
  public let reason: String

  init(_ path: String, line: Int? = nil, column: Int? = nil, key: String? = nil, reason: String) {
    self.path = path
    self.line = line
    self.column = column
    self.key = key
    self.reason = reason
  }
}

extension SettingsFileError {
  /// Whether it is a mistake of a table, or of a setting in it.
  ///
  /// - Parameter table: its keys with dots: `destination.home`.
  public func isIn(_ table: String) -> Bool { key == table || key?.hasPrefix("\(table).") == true }
}

extension SettingsFileError: CustomStringConvertible {
  public var description: String {
    let place = [line, column].compactMap { $0.map { ":\($0)" } }.joined()
    return "\(path)\(place): \(key.map { "\($0): " } ?? "")\(reason)"
  }
}
