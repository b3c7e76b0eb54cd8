/// The six digits that one person reads on the server and types on the client.
///
/// The code is the secret of the pairing, so neither its description nor its mirror shows it; ask for ``digits`` or
/// ``grouped`` where it is shown on purpose. It is not `Codable`: the code travels in no message of `hpeer-pair/1`.
public struct PairingCode: Hashable, Sendable {
  /// One million codes, of which five can be tried.
  public static let digitCount = 6

  /// Exactly six ASCII digits; leading zeros count.
  public let digits: String

  /// Reads what a person typed: spaces and `-` are dropped, then exactly six ASCII digits must be left.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count <= 64 else { return nil }
    let digits = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
    guard digits.count == Self.digitCount, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    self.digits = String(decoding: digits, as: UTF8.self)
  }

  /// For the screen: `482 913`.
  public var grouped: String { "\(digits.prefix(3)) \(digits.suffix(3))" }
}

extension PairingCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "PairingCode(******)" }
  public var debugDescription: String { description }
  /// Empty, so that `dump` shows nothing either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
