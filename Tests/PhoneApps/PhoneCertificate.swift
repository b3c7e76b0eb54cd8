import COpenSSL
import Foundation

@testable import Cryptography

/// A certificate like those of the apps: hand-encoded, without extensions, valid for a year and never renewed.
public struct PhoneCertificate: Sendable {
  public var der: [UInt8]
  public var keyPEM: String
  /// The SHA-256 of the DER, in lowercase hexadecimal.
  public var fingerprint: String

  /// - Parameters:
  ///   - name: The common name and, if `hasOrganization`, the organization.
  ///   - hasNullParameter: Whether the signature algorithm has a NULL parameter, which RFC 5758 section 3.2 forbids.
  ///   - from, to: The validity period, as UTCTime.
  public init(
    name: String, hasOrganization: Bool, hasNullParameter: Bool = false, from: String = "260101000000Z",
    to: String = "270101000000Z"
  ) throws {
    let key = try PrivateKey.generateP256()
    keyPEM = try key.pem()
    let algorithm = Self.sequence(
      Self.oid([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]) + (hasNullParameter ? [0x05, 0x00] : []))
    var names = Self.attribute([0x55, 0x04, 0x03], name)
    if hasOrganization { names += Self.attribute([0x55, 0x04, 0x0A], name) }
    let subject = Self.sequence(names)
    let version = Self.tagged(0xA0, [0x02, 0x01, 0x02])
    let serial = Self.tagged(0x02, [0x11, 0x22, 0x33, 0x44])
    let validity = Self.sequence(Self.tagged(0x17, Array(from.utf8)) + Self.tagged(0x17, Array(to.utf8)))
    let signed = try Self.sequence(
      version + serial + algorithm + subject + validity + subject + Self.publicKey(of: key))
    let signature = try key.sign(signed)
    der = Self.sequence(signed + algorithm + Self.tagged(0x03, [0x00] + signature))
    fingerprint = SHA256.hash(data: der).map { String(format: "%02x", $0) }.joined()
  }

  /// Creates a certificate like HealthAppTransfer's.
  public static func healthAppTransfer(isExpired: Bool = false) throws -> Self {
    try Self(
      name: "HealthAppTransfer", hasOrganization: true, from: isExpired ? "240101000000Z" : "260101000000Z",
      to: isExpired ? "241231000000Z" : "270101000000Z")
  }

  /// Creates a certificate like HealthSync's.
  public static func healthSync() throws -> Self {
    try Self(name: "HealthSync Local", hasOrganization: false, hasNullParameter: true)
  }

  /// Returns the key's SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
  private static func publicKey(of key: PrivateKey) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = bytes.withUnsafeMutableBufferPointer { bytes in
      var next = bytes.baseAddress
      return i2d_PUBKEY(key.pointer, &next)
    }
    guard count > 0 else { throw OpenSSLError("i2d_PUBKEY") }
    return Array(bytes.prefix(Int(count)))
  }

  private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] =
      count < 128
      ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
    return [tag] + length + content
  }

  private static func sequence(_ content: [UInt8]) -> [UInt8] { tagged(0x30, content) }

  private static func oid(_ bytes: [UInt8]) -> [UInt8] { tagged(0x06, bytes) }

  private static func attribute(_ type: [UInt8], _ value: String) -> [UInt8] {
    tagged(0x31, sequence(oid(type) + tagged(0x0C, Array(value.utf8))))
  }
}
