import Foundation

/// A setting of a destination: its key in the file, what it may hold, and what a person is told of it.
public struct SettingField: Hashable, Sendable {
  /// What a setting may hold.
  public enum Kind: Hashable, Sendable {
    case text
    /// An absolute URL of one of these schemes.
    case url(schemes: [String])
    /// A whole number of this range.
    case integer(ClosedRange<Int>)
    /// A number of this range, with a fraction or without.
    case number(ClosedRange<Double>)
    case boolean
    /// One of these texts.
    case choice([String])
    /// A path; `~` is this user's home.
    case path
    /// Where a secret is, never the secret: see ``SecretReference``.
    case secret
    /// Texts.
    case list
    /// Texts by name, such as headers.
    case table
  }

  /// Lower-case, with hyphens: `send-unencrypted`.
  public let key: String
  public let kind: Kind
  /// For a person: a sentence.
  public let help: String
  /// Without it there is no such destination, and a person is asked for it.
  public let isRequired: Bool
  /// Whether a person who adds a destination is asked for it although it has a default, which fits one of several only.
  public let isAsked: Bool
  /// As it is written in the file, without quotation marks; `nil` where there is none.
  public let defaultValue: String?

  /// Without a default, `nil` of an optional setting says that it is not set.
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
  /// Throws ``SettingsError`` where a value is none that this field may hold.
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
  /// For a person: `a text`, `true or false`.
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
