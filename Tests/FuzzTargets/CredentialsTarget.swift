import Foundation

@testable import HealthModel
@testable import PeerProtocol
@testable import PeerTrust

extension FuzzTarget {
  /// Fuzzes the short texts that have a canonical spelling: tokens, IDs, fingerprints and codes.
  @Sendable static func credentials(_ input: [UInt8]) {
    let text = text(input)
    if let token = BearerToken(text: text) { require(token.text == text, "a token has one spelling") }
    if let credential = BearerCredential(text: text) {
      require(credential.text == text && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "fits a header: \(text)")
    }
    if let id = PeerID(hex: text) { require(PeerID(hex: id.hex) == id && id.hex == text.lowercased(), "ID \(text)") }
    if let print = Fingerprint(hex: text) { require(Fingerprint(hex: print.grouped) == print, "fingerprint \(text)") }
    if let print = Fingerprint(base32: text) {
      require(print.base32 == text.uppercased() && Fingerprint(base32: print.base32) == print, "fingerprint \(text)")
    }
    if let statement = RotationStatement(text: text) { require(statement.text == text, "a statement has one spelling") }
    if let code = PairingCode(text) { require(PairingCode(code.grouped) == code, "code") }
    if let bytes = RadixCoding.base32.decode(text) {
      require(RadixCoding.base32.encode(bytes) == text.uppercased(), "base 32 \(text)")
    }
    if let bytes = RadixCoding.hex.decode(text) {
      require(RadixCoding.hex.encode(bytes) == text.lowercased(), "hex \(text)")
    }
    if let bytes = RadixCoding.base64URL.decode(text) {
      require(RadixCoding.base64URL.encode(bytes) == text, "base 64 \(text)")
    }
    require(RadixCoding.base32.decode(RadixCoding.base32.encode(input)) == input, "base 32 of bytes")
    require(RadixCoding.hex.decode(RadixCoding.hex.encode(input)) == input, "hex of bytes")
    require(RadixCoding.base64URL.decode(RadixCoding.base64URL.encode(input)) == input, "base 64 of bytes")
  }
}
