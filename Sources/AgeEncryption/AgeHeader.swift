import Cryptography
import Foundation

/// The header before the payload: the recipients' stanzas and an authentication code over them.
struct AgeHeader {
  static let version = "age-encryption.org/v1"
  /// The maximum length of a header: enough for more than a hundred recipients. A header is read before any key is
  /// given.
  static let mostBytes = 64 << 10

  let stanzas: [AgeStanza]
  /// The authenticated bytes: everything before the code.
  private let signed: [UInt8]
  private let code: [UInt8]

  /// Creates a header for `fileKey`.
  init(_ stanzas: [AgeStanza], _ fileKey: SymmetricKey) {
    self.stanzas = stanzas
    signed = Array((Self.version + "\n" + stanzas.map(\.text).joined() + "---").utf8)
    code = HMAC.authenticationCode(for: signed, using: FileKey.headerKey(fileKey))
  }

  /// Reads a header. Throws ``AgeError``, and the errors of `next`.
  ///
  /// - Parameter next: returns the next line without its line ending; throws if there is none.
  init(_ next: () throws -> [UInt8]) throws {
    var signed: [UInt8] = []
    func line() throws -> [UInt8] {
      let line = try next()
      signed += line + [UInt8(ascii: "\n")]
      guard signed.count <= Self.mostBytes else { throw AgeError.malformedHeader("it is too long") }
      return line
    }
    try Self.requireVersion(try line())
    var stanzas: [AgeStanza] = []
    while true {
      let first = try line()
      if first.starts(with: Array("-> ".utf8)) {
        stanzas.append(try AgeStanza(first, line))
      } else if first.starts(with: Array("--- ".utf8)) {
        guard let code = UnpaddedBase64.decode(first.dropFirst(4)), code.count == SHA256.byteCount else {
          throw AgeError.malformedHeader("its code is none")
        }
        self.code = code
        self.signed = Array(signed.dropLast(first.count - 3 + 1))
        break
      } else {
        throw AgeError.malformedHeader("a line that is none of a header")
      }
    }
    self.stanzas = stanzas
    if stanzas.isEmpty { throw AgeError.malformedHeader("it has no recipients") }
    // A program that asks for a passphrase must be sure that only the passphrase decrypts the file.
    if isForPassphrase, stanzas.count > 1 { throw AgeError.malformedHeader("others beside a passphrase") }
  }

  private static func requireVersion(_ line: [UInt8]) throws(AgeError) {
    if line.elementsEqual(version.utf8) { return }
    guard line.starts(with: Array("age-encryption.org/".utf8)), line.count < 100,
      line.allSatisfy({ (33...126).contains($0) })
    else { throw .notAge }
    throw .otherVersion(String(decoding: line, as: UTF8.self))
  }

  /// The bytes of the whole header.
  var bytes: [UInt8] { signed + [UInt8(ascii: " ")] + UnpaddedBase64.encode(code) + [UInt8(ascii: "\n")] }

  var isForPassphrase: Bool { stanzas.contains { $0.arguments.first == ScryptStanza.kind } }

  /// Returns the file key, unwrapped with one of `keys`. Blocks while a passphrase is hashed.
  func fileKey(_ keys: [AgeKey]) throws(AgeError) -> SymmetricKey {
    var found: SymmetricKey?
    for stanza in stanzas where found == nil {
      for key in keys where found == nil {
        switch (stanza.arguments.first, key) {
        case (X25519Stanza.kind, .secretKey(let secret)): found = try X25519Stanza.unwrap(stanza, with: secret)
        case (ScryptStanza.kind, .passphrase(let passphrase)):
          found = try ScryptStanza.unwrap(stanza, with: passphrase)
        default: continue
        }
      }
    }
    guard let found else { throw refusal(keys) }
    guard HMAC.isValidAuthenticationCode(code, authenticating: signed, using: FileKey.headerKey(found)) else {
      throw .headerChanged
    }
    return found
  }

  private func refusal(_ keys: [AgeKey]) -> AgeError {
    let hasPassphrase = keys.contains { if case .passphrase = $0 { true } else { false } }
    if isForPassphrase { return hasPassphrase ? .wrongPassphrase : .needsPassphrase }
    return keys.count == (hasPassphrase ? 1 : 0) ? .needsKey : .noMatchingKey
  }
}
