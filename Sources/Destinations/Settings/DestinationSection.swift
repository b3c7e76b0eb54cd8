/// One destination of a settings file.
public struct DestinationSection: Sendable {
  /// `home` of `[destination.home]`.
  public let name: String
  /// One of those that this version knows.
  public let kind: any Destination.Type
  /// Those of its kind.
  public let settings: DestinationSettings
  /// Those that all kinds have.
  public let common: CommonSettings
  /// Where it begins in the file, from 1.
  public let line: Int

  /// What its position, logs and audit events are kept under: `mqtt:home`.
  public var consumer: String { "\(kind.description.kind.rawValue):\(name)" }

  /// Whether a text can be the name of one: letters, digits, `-` and `_`, at most 64, the first a letter or digit.
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
