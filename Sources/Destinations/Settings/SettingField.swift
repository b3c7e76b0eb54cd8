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
