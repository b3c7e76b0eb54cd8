import HealthModel

/// Tells machines apart that have one identity, because one was put back from a copy of the other: in a header of a paired
/// machine's request for changes and of its answer. It is another after every start of a machine, and one that was there
/// before never comes back, so whoever sees one, then another, and then the first again has met two machines.
///
/// It is a hash, and says nothing of the machine.
public struct MachineMark: Hashable, Sendable {
  /// The name of the header field, in requests and answers alike.
  public static let header = "Hpeer-Machine"

  /// 16 hexadecimal digits in lower case.
  public let text: String

  /// The first 8 bytes of a hash.
  public init(_ hash: some Sequence<UInt8>) { text = RadixCoding.hex.encode(hash.prefix(8)) }

  /// `nil` for what is no mark.
  public init?(text: some StringProtocol) {
    guard text.utf8.count == 16, RadixCoding.hex.decode(text) != nil, text.lowercased() == text else { return nil }
    self.text = String(text)
  }
}
