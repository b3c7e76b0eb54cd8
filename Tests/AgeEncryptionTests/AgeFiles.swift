import Cryptography
import Foundation
import TestSupport

@testable import AgeEncryption

/// A namespace for age files in memory.
enum AgeFiles {
  /// An age key made of 32 bytes of 0x42.
  static let key = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
  static let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

  static func keys() throws -> [AgeKey] { try AgeKey.all(in: key) }

  static func encrypt(_ bytes: [UInt8], to recipients: [AgeRecipient]? = nil, pieces: Int = 1000) throws -> [UInt8] {
    var encryptor = try AgeEncryptor(to: recipients ?? [AgeRecipient(recipient)], work: 3)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      result += encryptor.encrypt(Array(bytes[start..<min(start + pieces, bytes.count)]))
    }
    return result + encryptor.finish()
  }

  /// - Parameter step: The maximum number of bytes returned by a read.
  static func decrypt(_ file: [UInt8], _ keys: [AgeKey], step: Int = 4096) throws -> [UInt8] {
    var rest = file[...]
    let reader = try AgeReader { count in
      defer { rest = rest.dropFirst(min(count, step)) }
      return Array(rest.prefix(min(count, step)))
    }
    try reader.unlock(keys)
    var result: [UInt8] = []
    while let piece = try reader.read() { result += piece }
    return result
  }

  /// Returns a file whose header has these stanzas, sealed with `fileKey`, and whose payload is empty.
  static func file(_ stanzas: [AgeStanza], _ bytes: [UInt8] = [1, 2, 3]) throws -> [UInt8] {
    let fileKey = FileKey.random()
    let own = try X25519Stanza.wrap(fileKey, to: secret().publicKey)
    let nonce = [UInt8](repeating: 7, count: 16)
    var cipher = PayloadCipher(fileKey, nonce: nonce)
    return AgeHeader(stanzas + [own], fileKey).bytes + nonce + cipher.seal(bytes, isLast: true)
  }

  static func secret() throws -> X25519.PrivateKey {
    guard case .secretKey(let secret) = try keys()[0] else { throw AgeError.noKeys }
    return secret
  }
}

/// The programs of the Debian package `age`, used as a reference.
enum AgeProgram {
  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/age")
  private static let tool = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Tools/age-passphrase").path

  /// Runs age. Throws if its exit status isn't 0.
  static func run(_ arguments: String...) throws { try run(["/usr/bin/age"] + arguments) }

  static func run(all arguments: [String]) throws { try run(["/usr/bin/age"] + arguments) }

  /// Runs age with a passphrase typed at its prompt.
  static func run(passphrase: String, _ arguments: String...) throws { try run([tool, passphrase] + arguments) }

  private struct Failure: Error {
    var status: Int32
  }

  private static func run(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
  }
}
