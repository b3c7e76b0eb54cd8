import Foundation
import HealthModel

/// The client's proof that it knows the code, `POST /pair/v1/finish`: `{"session":"<32 hex>","cA":"<64 hex>"}`.
///
/// A decoded request may hold a confirmation of any length, for the same reason as the share of ``PairStartRequest``.
public struct PairFinishRequest: Hashable, Sendable {
  /// The session's 16 bytes from ``PairStartResponse``.
  public let session: [UInt8]
  /// The client's confirmation, HMAC-SHA256(KcA, TT) of RFC 9382: 32 bytes.
  public let cA: [UInt8]

  /// - Throws: ``PairMessageError/badField(_:)`` unless the session has 16 bytes and the confirmation 32.
  public init(session: [UInt8], cA: [UInt8]) throws(PairMessageError) {
    let cA = try PairField.bytes(cA, count: PairingProtocol.confirmationByteCount, "cA")
    try self.init(session: session, unverifiedConfirmation: cA)
  }

  private init(session: [UInt8], unverifiedConfirmation: [UInt8]) throws(PairMessageError) {
    self.session = try PairField.bytes(session, count: PairingProtocol.sessionByteCount, "session")
    self.cA = unverifiedConfirmation
  }
}

extension PairFinishRequest: Codable {
  enum CodingKeys: String, CodingKey { case session, cA }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(session: container.decodeHex(.session), unverifiedConfirmation: container.decodeHex(.cA))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeHex(session, forKey: .session)
    try container.encodeHex(cA, forKey: .cA)
  }
}

/// The server's proof and receipt: `{"cB":"<64 hex>","tokenID":"<16 hex>","expiresAt":1767787500,"receipt":"<64
/// hex>"}`.
///
/// The token itself is never sent; both sides derive it. A repeated finish gets the same receipt.
public struct PairFinishResponse: Hashable, Sendable {
  /// The server's confirmation, HMAC-SHA256(KcB, TT) of RFC 9382: 32 bytes.
  public let cB: [UInt8]
  /// The first 8 bytes of the token's SHA-256 in hexadecimal, which lists and logs may show.
  public let tokenID: String
  /// The time at which the token expires unless it is used, in whole seconds.
  public let expiresAt: Date
  /// The receipt, HMAC-SHA256(receipt key, "hpeer-pair/1 receipt\0" ‖ session ‖ token ID's 8 bytes ‖ expiry as u64be
  /// seconds): 32 bytes.
  public let receipt: [UInt8]

  /// - Parameter expiresAt: rounded down to whole seconds; from 1970 to the end of 2199.
  public init(cB: [UInt8], tokenID: String, expiresAt: Date, receipt: [UInt8]) throws(PairMessageError) {
    let seconds = try Self.seconds(of: expiresAt)
    guard tokenID.utf8.count == 16, RadixCoding.hex.decode(tokenID) != nil else { throw .badField("tokenID") }
    self.cB = try PairField.bytes(cB, count: PairingProtocol.confirmationByteCount, "cB")
    self.tokenID = tokenID.lowercased()
    self.expiresAt = Date(timeIntervalSince1970: Double(seconds))
    self.receipt = try PairField.bytes(receipt, count: PairingProtocol.confirmationByteCount, "receipt")
  }

  /// Returns the expiry in whole seconds since 1970, as used in the message and the receipt.
  ///
  /// - Throws: `badField("expiresAt")` for a time before 1970 or after 2199.
  public static func seconds(of expiresAt: Date) throws(PairMessageError) -> UInt64 {
    let seconds = expiresAt.timeIntervalSince1970.rounded(.down)
    guard (0..<WireInstant.range.upperBound).contains(seconds) else { throw .badField("expiresAt") }
    return UInt64(seconds)
  }
}

extension PairFinishResponse: Codable {
  enum CodingKeys: String, CodingKey { case cB, tokenID, expiresAt, receipt }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let seconds = try container.decode(Int64.self, forKey: .expiresAt)
    try self.init(
      cB: container.decodeHex(.cB), tokenID: container.decode(String.self, forKey: .tokenID),
      expiresAt: Date(timeIntervalSince1970: Double(seconds)), receipt: container.decodeHex(.receipt))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeHex(cB, forKey: .cB)
    try container.encode(tokenID, forKey: .tokenID)
    try container.encode(Self.seconds(of: expiresAt), forKey: .expiresAt)
    try container.encodeHex(receipt, forKey: .receipt)
  }
}
