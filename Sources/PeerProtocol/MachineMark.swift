import HealthModel

/// A marker that tells apart machines sharing one identity, such as after a backup of one was restored on another. A
/// paired machine sends it in a header of its request for changes and of its answer. It changes at every start of a
/// machine and never returns to an earlier value, so a client or server that sees one mark, then another, then the
/// first again has met two machines.
///
/// The mark is a hash and reveals nothing about the machine.
public struct MachineMark: Hashable, Sendable {
  /// The name of the header field, in requests and answers alike.
  public static let header = "Hpeer-Machine"

  /// 16 hexadecimal digits in lower case.
  public let text: String

  /// Creates a mark from the first 8 bytes of a hash.
  public init(_ hash: some Sequence<UInt8>) { text = RadixCoding.hex.encode(hash.prefix(8)) }

  /// Parses a mark, or returns `nil` if the text is not one.
  public init?(text: some StringProtocol) {
    guard text.utf8.count == 16, RadixCoding.hex.decode(text) != nil, text.lowercased() == text else { return nil }
    self.text = String(text)
  }
}
