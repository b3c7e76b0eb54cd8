import Cryptography
import Foundation

/// An encryptor for data that arrives in pieces, in the format of age (https://age-encryption.org/v1), so that `age
/// -d` decrypts it. Uses some 128 KiB of memory, whatever the size of the data.
///
/// ```swift
/// func encrypt(_ pieces: [[UInt8]], to recipient: AgeRecipient, write: ([UInt8]) throws -> Void) throws {
///   var encryptor = try AgeEncryptor(to: [recipient])
///   for piece in pieces { try write(encryptor.encrypt(piece)) }
///   try write(encryptor.finish())
/// }
/// ```
public struct AgeEncryptor: Sendable {
  private var cipher: PayloadCipher
  private var pending: [UInt8] = []
  /// The header, until it has been returned.
  private var output: [UInt8]

  /// Creates an encryptor. Blocks for about a second to hash a passphrase.
  ///
  /// - Parameter recipients: the recipients, each of whom can decrypt the data.
  public init(to recipients: [AgeRecipient]) throws(AgeError) {
    try self.init(to: recipients, work: ScryptStanza.usualWork)
  }

  init(to recipients: [AgeRecipient], work: Int) throws(AgeError) {
    if recipients.isEmpty { throw .noRecipients }
    let fileKey = FileKey.random()
    var stanzas: [AgeStanza] = []
    for recipient in recipients {
      switch recipient {
      case .publicKey(let key): stanzas.append(try X25519Stanza.wrap(fileKey, to: key))
      case .passphrase(let passphrase):
        guard recipients.count == 1 else { throw .passphraseBesideOthers }
        stanzas.append(try ScryptStanza.wrap(fileKey, with: passphrase, work: work))
      }
    }
    var generator = SystemRandomNumberGenerator()
    let nonce = (0..<PayloadCipher.nonceCount).map { _ in generator.next() as UInt8 }
    cipher = PayloadCipher(fileKey, nonce: nonce)
    output = AgeHeader(stanzas, fileKey).bytes + nonce
  }

  /// Encrypts more data.
  ///
  /// - Returns: the bytes to write now; may be empty.
  public mutating func encrypt(_ bytes: [UInt8]) -> [UInt8] {
    pending += bytes
    var start = 0
    // The last piece may have the full size, so at least one byte is kept.
    while pending.count - start > PayloadCipher.pieceCount {
      output += cipher.seal(pending[start..<start + PayloadCipher.pieceCount], isLast: false)
      start += PayloadCipher.pieceCount
    }
    pending.removeFirst(start)
    return takeOutput()
  }

  /// Returns the last bytes to write. Call it once.
  public mutating func finish() -> [UInt8] {
    output += cipher.seal(pending, isLast: true)
    pending = []
    return takeOutput()
  }

  private mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }
}
