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
