import Foundation

/// The declaration of a setting: its key in the file, its type, and its explanation for a person.
public struct SettingField: Hashable, Sendable {
  /// The type of a setting's value.
  public enum Kind: Hashable, Sendable {
    case text
    /// An absolute URL with one of these schemes.
    case url(schemes: [String])
    /// A whole number in this range.
    case integer(ClosedRange<Int>)
    /// A number in this range, with or without a fraction.
    case number(ClosedRange<Double>)
    case boolean
    /// A text that is one of these.
    case choice([String])
    /// A path; `~` is this user's home.
    case path
    /// The location of a secret, never the secret itself: see ``SecretReference``.
    case secret
    /// A list of texts.
    case list
    /// A table of texts by name, such as headers.
    case table
  }

  /// The key in lower case with hyphens: `send-unencrypted`.
  public let key: String
  public let kind: Kind
  /// A sentence for a person.
  public let help: String
  /// Whether the setting must be present. A person who adds a destination is asked for it.
  public let isRequired: Bool
  /// Whether a person is asked for it despite its default, which fits only one destination of several.
  public let isAsked: Bool
  /// The default as it is written in the file, without quotation marks; `nil` if there is none.
  public let defaultValue: String?

  /// Creates a field. An optional setting without a default reads as `nil` if it is not set.
  public init(
    _ key: String, _ kind: Kind, _ help: String, required: Bool = false, asked: Bool = false,
    default defaultValue: String? = nil
  ) {
    isAsked = asked
    self.key = key
    self.kind = kind
    self.help = help
    isRequired = required
    self.defaultValue = defaultValue
  }
}

extension SettingField {
  /// Checks a value. Throws ``SettingsError`` if this field cannot have it.
  public func check(_ value: DestinationSettings.Value?) throws(SettingsError) {
    func invalid(_ what: String) -> SettingsError { SettingsError(key, .invalid(what)) }
    switch (kind, value) {
    case (_, nil): return
    case (.text, .text), (.boolean, .boolean), (.list, .list), (.table, .table): return
    case (.path, .text(let text)):
      guard !text.isEmpty else { throw invalid("is an empty path") }
    case (.url(let schemes), .text(let text)):
      guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), url.host?.isEmpty == false else {
        throw invalid("is not a URL, such as \(schemes.first ?? "https")://example.org")
      }
      guard schemes.contains(scheme) else {
        throw invalid("is a URL of \(scheme), and \(schemes.joined(separator: " or ")) is expected")
      }
      guard HTTPService.hasValidPort(url) else { throw invalid("has a port that there is not: they are 1 to 65535") }
      guard url.user == nil, url.password == nil else {
        throw invalid("has a user name or password in it: there are settings of their own for them")
      }
    case (.integer(let range), .integer(let number)):
      guard range.contains(number) else {
        throw invalid("is \(number), and must be from \(range.lowerBound) to \(range.upperBound)")
      }
    case (.number(let range), .integer(let number)): try check(Double(number), range)
    case (.number(let range), .number(let number)): try check(number, range)
    case (.choice(let choices), .text(let text)):
      guard choices.contains(text) else { throw invalid("must be one of \(choices.joined(separator: ", "))") }
    case (.secret, .text(let text)):
      guard SecretReference(text) != nil else { throw SettingsError(key, .secretInTheOpen) }
    default: throw invalid("must be \(kind.name)")
    }
  }

  private func check(_ number: Double, _ range: ClosedRange<Double>) throws(SettingsError) {
    guard range.contains(number) else {
      throw SettingsError(key, .invalid("is \(number), and must be from \(range.lowerBound) to \(range.upperBound)"))
    }
  }
}

extension SettingField.Kind {
  /// The name of the type for a person: `a text`, `true or false`.
  public var name: String {
    switch self {
    case .text: "a text"
    case .url: "a URL"
    case .integer: "a whole number"
    case .number: "a number"
    case .boolean: "true or false"
    case .choice(let choices): "one of \(choices.joined(separator: ", "))"
    case .path: "a path"
    case .secret: "file:PATH, env:NAME or credential:NAME"
    case .list: "a list of texts"
    case .table: "a table of texts"
    }
  }
}
