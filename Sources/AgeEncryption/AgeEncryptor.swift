import Cryptography
import Foundation

/// Encrypts what comes piece by piece, in the format of age (https://age-encryption.org/v1), so that `age -d` opens it.
/// Holds some 128 KiB, however much comes.
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
  /// The header, until it is handed out.
  private var output: [UInt8]

  /// Blocks for about a second while a passphrase is hashed.
  ///
  /// - Parameter recipients: each of them can open it.
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

  /// - Returns: what can be written by now; nothing, perhaps.
  public mutating func encrypt(_ bytes: [UInt8]) -> [UInt8] {
    pending += bytes
    var start = 0
    // The last piece may be a whole one.
    while pending.count - start > PayloadCipher.pieceCount {
      output += cipher.seal(pending[start..<start + PayloadCipher.pieceCount], isLast: false)
      start += PayloadCipher.pieceCount
    }
    pending.removeFirst(start)
    return takeOutput()
  }

  /// The end; to be called once.
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
