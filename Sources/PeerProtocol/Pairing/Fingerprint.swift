import Foundation
import HealthModel

/// The SHA-256 of a certificate's DER: 32 bytes that identify a peer.
///
/// The fingerprint is what a client pins. Names and dates inside a certificate are not trusted.
public struct Fingerprint: Hashable, Sendable {
  /// The length of a SHA-256 hash in bytes.
  public static let byteCount = 32

  /// The hash, exactly ``byteCount`` bytes.
  public let bytes: [UInt8]

  /// Creates a fingerprint, or returns `nil` unless there are exactly 32 bytes.
  public init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits of either case. The colons and spaces that tools print between digits are skipped.
  public init?(hex: some StringProtocol) {
    guard hex.utf8.count <= 4 * Self.byteCount else { return nil }
    guard let bytes = RadixCoding.hex.decode(String(hex.filter { $0 != ":" && $0 != " " })) else { return nil }
    self.init(bytes: bytes)
  }

  /// Reads a fingerprint that a person copied from another screen: ``init(hex:)`` plus the prefixes that tools print.
  public init?(shown text: String) {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.utf8.count <= 6 * Self.byteCount else { return nil }
    // OpenSSL prints `sha256 Fingerprint=`, other tools `SHA256:`.
    let digits = text.lastIndex(where: { $0 == "=" }).map { text[text.index(after: $0)...] } ?? text[...]
    self.init(hex: digits.lowercased().hasPrefix("sha256:") ? digits.dropFirst(7) : digits)
  }

  /// Reads the 52 characters of RFC 4648 base 32 without padding, in either case.
  public init?(base32: some StringProtocol) {
    guard base32.utf8.count <= 2 * Self.byteCount, let bytes = RadixCoding.base32.decode(base32) else { return nil }
    self.init(bytes: bytes)
  }

  /// The fingerprint as 64 lower-case hexadecimal digits.
  public var hex: String { RadixCoding.hex.encode(bytes) }

  /// The fingerprint as 52 upper-case characters of RFC 4648 base 32.
  public var base32: String { RadixCoding.base32.encode(bytes) }

  /// The fingerprint as eight groups of eight hexadecimal digits, for two people to compare by eye. The 71 columns
  /// fit on one line of a terminal.
  public var grouped: String {
    stride(from: 0, to: Self.byteCount, by: 4)
      .map { RadixCoding.hex.encode(bytes[$0..<$0 + 4]) }
      .joined(separator: " ")
  }
}

extension Fingerprint: CustomStringConvertible {
  public var description: String { hex }
}

extension Fingerprint: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = RadixCoding.hex.decode(try container.decode(String.self)), let value = Self(bytes: bytes) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "A fingerprint is 64 hexadecimal digits.")
    }
    self = value
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }
}
