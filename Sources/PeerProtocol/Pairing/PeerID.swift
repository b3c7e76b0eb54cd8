import HealthModel

/// The 16 bytes by which a machine names another.
///
/// A server gives itself random ones at its first run, the `serverID` of `hpeer-pair/1`. What it calls a client follows
/// from the client's certificate, see ``init(certificate:)``; one that shows none is given random ones at each pairing.
///
/// An ID names a peer, it proves nothing: the proof is the certificate's fingerprint or the token.
public struct PeerID: Hashable, Sendable {
  /// 128 bits: two machines that choose at random do not choose the same.
  public static let byteCount = 16

  /// Exactly ``byteCount``.
  public let bytes: [UInt8]

  /// Nil unless there are exactly 16 bytes.
  public init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Reads 32 hexadecimal digits of either case.
  public init?(hex: some StringProtocol) {
    guard hex.utf8.count == 2 * Self.byteCount, let bytes = RadixCoding.hex.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// What a server calls the client that shows this certificate: the first 16 bytes of its SHA-256, so that nobody
  /// chooses it.
  public init(certificate: Fingerprint) {
    bytes = Array(certificate.bytes.prefix(Self.byteCount))
  }

  /// 32 lower-case hexadecimal digits.
  public var hex: String { RadixCoding.hex.encode(bytes) }

  /// The first eight hexadecimal digits, for people.
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
