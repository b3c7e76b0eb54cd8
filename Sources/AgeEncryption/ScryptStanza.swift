import Cryptography
import Foundation

/// The `scrypt` stanza: the file key wrapped with a key derived from a passphrase.
enum ScryptStanza {
  static let kind = "scrypt"
  /// The default work factor of age: about a second and 256 MiB.
  static let usualWork = 18
  /// The maximum work factor: some four seconds and 1 GiB. Higher factors would let a file block the program at will.
  static let mostWork = 20
  private static let label = Array("age-encryption.org/v1/scrypt".utf8)
  private static let saltCount = 16

  /// Wraps the file key. Blocks.
  static func wrap(_ fileKey: SymmetricKey, with passphrase: String, work: Int) throws(AgeError) -> AgeStanza {
    var generator = SystemRandomNumberGenerator()
    let salt = (0..<saltCount).map { _ in generator.next() as UInt8 }
    let text = String(decoding: UnpaddedBase64.encode(salt), as: UTF8.self)
    let key = try wrappingKey(passphrase, salt: salt, work: work)
    return AgeStanza([kind, text, String(work)], FileKey.seal(fileKey, with: key))
  }

  /// Unwraps the file key; `nil` if the passphrase is wrong. Blocks.
  static func unwrap(_ stanza: AgeStanza, with passphrase: String) throws(AgeError) -> SymmetricKey? {
    guard stanza.arguments.count == 3, let salt = UnpaddedBase64.decode(Array(stanza.arguments[1].utf8)),
      salt.count == saltCount, stanza.body.count == FileKey.sealedCount,
      let work = Int(stanza.arguments[2]), String(work) == stanza.arguments[2], work > 0
    else { throw .malformedHeader("a passphrase's recipient that is none") }
    guard work <= mostWork else { throw .tooMuchWork(factor: work) }
    return FileKey.open(stanza.body, with: try wrappingKey(passphrase, salt: salt, work: work))
  }

  private static func wrappingKey(_ passphrase: String, salt: [UInt8], work: Int) throws(AgeError) -> SymmetricKey {
    do throws(OpenSSLError) {
      let key = try Scrypt.derive(
        password: SecretBytes(copying: passphrase.utf8), salt: label + salt, workFactor: work, byteCount: 32)
      return key.withBytes { SymmetricKey(data: $0) }
    } catch {
      throw .failed(error.reason)
    }
  }
}
