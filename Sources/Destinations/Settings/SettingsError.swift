import HealthModel

/// A problem with a setting. Contains no secret.
public struct SettingsError: Error, Hashable, Sendable {
  /// The kind of problem.
  public enum Problem: Hashable, Sendable {
    /// A required setting is missing.
    ///
    /// - Parameter help: the explanation of the setting.
    case missing(_ help: String)
    /// The key is unknown.
    ///
    /// - Parameter known: the keys that exist.
    case unknown(known: [String])
    /// The value is invalid; the text is a verb and what follows: `is not a URL`.
    case invalid(String)
    /// The value is not the location of a secret, and may be the secret itself.
    case secretInTheOpen
    /// A secret could not be read.
    ///
    /// - Parameter reason: a sentence without its full stop.
    case unreadableSecret(String)
  }

  /// The key in the file, without the table that contains it.
  public let key: String
  public let problem: Problem

  /// Creates an error.
  ///
  /// - Parameter key: the key of a field.
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

  /// The part of the sentence after the key.
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

/// A problem in a settings file, with its place. Contains no secret.
public struct SettingsFileError: Error, Hashable, Sendable {
  /// The path of the file.
  public let path: String
  /// The line, from 1; `nil` if no line is at fault.
  public let line: Int?
  /// The column, from 1; only for syntax errors.
  public let column: Int?
  /// The full key of the setting, `destination.home.url`; `nil` for syntax errors.
  public let key: String?
  /// A sentence that explains the problem.
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
  /// Returns whether the problem is in a table or in a setting of it.
  ///
  /// - Parameter table: the dotted key of the table: `destination.home`.
  public func isIn(_ table: String) -> Bool { key == table || key?.hasPrefix("\(table).") == true }
}

extension SettingsFileError: CustomStringConvertible {
  public var description: String {
    let place = [line, column].compactMap { $0.map { ":\($0)" } }.joined()
    return "\(path)\(place): \(key.map { "\($0): " } ?? "")\(reason)"
  }
}
