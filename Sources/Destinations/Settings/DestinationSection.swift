/// A destination in a settings file.
public struct DestinationSection: Sendable {
  /// The name: `home` in `[destination.home]`.
  public let name: String
  /// The kind of destination.
  public let kind: any Destination.Type
  /// The settings of its kind.
  public let settings: DestinationSettings
  /// The settings that all kinds have.
  public let common: CommonSettings
  /// The line in the file at which the section begins, from 1.
  public let line: Int

  /// The name under which positions, logs and audit events are kept: `mqtt:home`.
  public var consumer: String { "\(kind.description.kind.rawValue):\(name)" }

  /// Creates a section from checked values.
  ///
  /// - Parameters:
  ///   - values: the values of the kind's settings and of ``CommonSettings``, by key.
  ///   - fields: the kind's settings that are to be checked.
  /// - Throws: ``SettingsError`` for the first invalid setting.
  init(
    _ name: String, _ kind: any Destination.Type, _ values: [String: DestinationSettings.Value],
    fields: [SettingField], line: Int
  ) throws(SettingsError) {
    let description = kind.description
    let commonKeys = Set(CommonSettings.fields.map(\.key))
    (self.name, self.kind, self.line) = (name, kind, line)
    settings = try DestinationSettings(name: name, values.filter { !commonKeys.contains($0.key) }, fields: fields)
    common = try CommonSettings(values.filter { commonKeys.contains($0.key) })
    let meant = CommonSettings.fields(of: description)
    for field in CommonSettings.fields where values[field.key] != nil && !meant.contains(field) {
      throw SettingsError(
        field.key, .invalid("is not for the kind \(description.kind.rawValue), which makes numbers of its own"))
    }
    try kind.validate(settings)
  }

  /// Checks the settings that have been given so far, before a person is asked for missing ones.
  ///
  /// - Parameter values: settings of the kind and of ``CommonSettings``.
  /// - Throws: ``SettingsError`` for the first invalid setting.
  public static func validate(
    _ values: [(key: String, value: DestinationSettings.Value)], of kind: any Destination.Type
  ) throws(SettingsError) {
    let given = values.reduce(into: [:]) { $0[$1.key] = $1.value }
    let fields = kind.description.fields.filter { $0.kind != .secret || given[$0.key] != nil }
    do {
      _ = try DestinationSection("", kind, given, fields: fields, line: 1)
    } catch {
      guard case .missing = error.problem else { throw error }
    }
  }

  /// Returns whether a text is a valid name: 1 to 64 letters, digits, `-` and `_`, the first a letter or digit.
  public static func isName(_ text: String) -> Bool {
    guard (1...64).contains(text.utf8.count), text.utf8.first.map(isAlphanumeric) == true else { return false }
    return text.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
