import Foundation

/// The settings of one destination, checked against the fields of its kind: every key is known and has a valid value.
public struct DestinationSettings: Hashable, Sendable {
  /// The value of a setting. A TOML date becomes its text.
  public enum Value: Hashable, Sendable {
    /// A text in quotation marks, or a date.
    case text(String)
    /// A whole number.
    case integer(Int)
    /// A number that was written with a fraction.
    case number(Double)
    case boolean(Bool)
    /// An array of texts.
    case list([String])
    /// A table of texts by key, such as headers.
    case table([String: String])
  }

  /// The destination's name: `home` in `[destination.home]`.
  public let name: String
  private let values: [String: Value]
  private let fields: [String: SettingField]

  /// Checks and stores the settings of a destination.
  ///
  /// - Throws: ``SettingsError`` for the first key that is missing, unknown or of another type.
  public init(
    name: String, _ values: [String: Value], of description: DestinationDescription
  ) throws(SettingsError) {
    try self.init(name: name, values, fields: description.fields)
  }

  /// Checks and stores the settings of something else that uses fields.
  ///
  /// - Throws: ``SettingsError`` for the first key that is missing, unknown or of another type.
  public init(name: String, _ values: [String: Value], fields known: [SettingField]) throws(SettingsError) {
    self.name = name
    self.values = values
    fields = Dictionary(known.map { ($0.key, $0) }) { first, _ in first }
    for key in values.keys.sorted() {
      guard let field = fields[key] else { throw SettingsError(key, .unknown(known: known.map(\.key))) }
      try field.check(values[key])
    }
    for field in known where field.isRequired && values[field.key] == nil {
      throw SettingsError(field.key, .missing(field.help))
    }
  }

  /// Returns whether a person has set the key.
  public func has(_ key: String) -> Bool { values[key] != nil }

  // MARK: Values by type

  /// Returns a text, a choice, a path or a URL.
  public func text(_ key: String) throws(SettingsError) -> String {
    guard let text = optionalText(key) else { throw missing(key) }
    return text
  }

  /// Returns a text, or `nil` if it is not set and has no default.
  public func optionalText(_ key: String) -> String? {
    if case .text(let text) = values[key] { return text }
    return fields[key]?.defaultValue
  }

  /// Returns a URL; its scheme has been checked, and it contains no credentials.
  public func url(_ key: String) throws(SettingsError) -> URL {
    guard let url = URL(string: try text(key)) else { throw SettingsError(key, .invalid("is not a URL")) }
    return url
  }

  /// Returns a whole number within the field's range.
  public func integer(_ key: String) throws(SettingsError) -> Int {
    if case .integer(let number) = values[key] { return number }
    guard let number = fields[key]?.defaultValue.flatMap(Int.init) else { throw missing(key) }
    return number
  }

  /// Returns a number within the field's range, or `nil` if it is not set and has no default.
  public func number(_ key: String) -> Double? {
    switch values[key] {
    case .number(let number): number
    case .integer(let number): Double(number)
    default: fields[key]?.defaultValue.flatMap(Double.init)
    }
  }

  /// Returns a Boolean; `false` if it is not set and has no default.
  public func boolean(_ key: String) -> Bool {
    if case .boolean(let value) = values[key] { return value }
    return fields[key]?.defaultValue == "true"
  }

  /// Returns a list, which is empty if it is not set.
  public func list(_ key: String) -> [String] {
    if case .list(let texts) = values[key] { return texts }
    return []
  }

  /// Returns a table, which is empty if it is not set.
  public func table(_ key: String) -> [String: String] {
    if case .table(let texts) = values[key] { return texts }
    return [:]
  }

  /// Returns the reference to a secret, or `nil` if it is not set.
  public func secret(_ key: String) throws(SettingsError) -> SecretReference? {
    guard let text = optionalText(key) else { return nil }
    guard let reference = SecretReference(text) else { throw SettingsError(key, .secretInTheOpen) }
    return reference
  }

  private func missing(_ key: String) -> SettingsError { SettingsError(key, .missing(fields[key]?.help ?? "")) }
}
