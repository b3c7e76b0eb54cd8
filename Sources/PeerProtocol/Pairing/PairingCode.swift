/// The six digits that a person reads on the server and types on the client.
///
/// The code is the secret of the pairing, so neither its description nor its mirror shows it. Use ``digits`` or
/// ``grouped`` to show it deliberately. It is not `Codable` because no message of `hpeer-pair/1` contains it.
public struct PairingCode: Hashable, Sendable {
  /// The number of digits: one million codes, of which a client may try five.
  public static let digitCount = 6

  /// The six ASCII digits, including leading zeros.
  public let digits: String

  /// Parses a typed code: ignores spaces and `-`, then requires exactly six ASCII digits.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count <= 64 else { return nil }
    let digits = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
    guard digits.count == Self.digitCount, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    self.digits = String(decoding: digits, as: UTF8.self)
  }

  /// The code as shown on screen, such as `482 913`.
  public var grouped: String { "\(digits.prefix(3)) \(digits.suffix(3))" }
}

extension PairingCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "PairingCode(******)" }
  public var debugDescription: String { description }
  /// Empty, so that `dump` shows nothing either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
