import Foundation

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
