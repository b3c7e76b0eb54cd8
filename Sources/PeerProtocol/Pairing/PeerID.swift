import HealthModel

/// An identifier of a machine, 16 bytes long.
///
/// A server generates its own at random at its first run, the `serverID` of `hpeer-pair/1`. A client's ID derives
/// from its certificate, see ``init(certificate:)``; a client without a certificate gets a random ID at each pairing.
///
/// An ID names a peer but proves nothing: the proof is the certificate's fingerprint or the token.
public struct PeerID: Hashable, Sendable {
  /// The length in bytes. With 128 random bits, two machines do not choose the same ID.
  public static let byteCount = 16

  /// The identifier, exactly ``byteCount`` bytes.
  public let bytes: [UInt8]

  /// Creates an ID, or returns `nil` unless there are exactly 16 bytes.
  public init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Parses 32 hexadecimal digits of either case.
  public init?(hex: some StringProtocol) {
    guard hex.utf8.count == 2 * Self.byteCount, let bytes = RadixCoding.hex.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// Creates the ID of a client from its certificate: the first 16 bytes of the SHA-256, so that no client can choose
  /// its ID.
  public init(certificate: Fingerprint) {
    bytes = Array(certificate.bytes.prefix(Self.byteCount))
  }

  /// The ID as 32 lower-case hexadecimal digits.
  public var hex: String { RadixCoding.hex.encode(bytes) }

  /// The first eight hexadecimal digits, for display.
  public var short: String { RadixCoding.hex.encode(bytes.prefix(4)) }
}

extension PeerID: CustomStringConvertible {
  public var description: String { hex }
}

extension PeerID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = Self(hex: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "A peer ID is 32 hexadecimal digits.")
    }
    self = value
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }
}
