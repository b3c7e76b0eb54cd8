import Cryptography
import Foundation
import TestSupport
import Testing

@testable import AgeEncryption

/// Tests that a modified file is never accepted.
@Suite struct HostileAgeTests {
  @Test("a bit flipped anywhere, an end cut off anywhere, and anything behind it")
  func damage() throws {
    let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
    let file = try AgeFiles.encrypt(bytes)
    let keys = try AgeFiles.keys()
    for index in file.indices {
      var damaged = file
      damaged[index] ^= 1 << UInt8(index % 8)
      #expect(throws: (any Error).self, "byte \(index)") { try AgeFiles.decrypt(damaged, keys) }
      #expect(throws: (any Error).self, "cut at \(index)") { try AgeFiles.decrypt(Array(file[..<index]), keys) }
    }
    #expect(throws: AgeError.self) { try AgeFiles.decrypt(file + [0], keys) }
  }

  @Test("pieces left out, doubled, exchanged, or not ended")
  func pieces() throws {
    let key = FileKey.random()
    let header = AgeHeader([try X25519Stanza.wrap(key, to: AgeFiles.secret().publicKey)], key).bytes
    let nonce = [UInt8](repeating: 1, count: 16)
    var cipher = PayloadCipher(key, nonce: nonce)
    let whole = [UInt8](repeating: 9, count: PayloadCipher.pieceCount)
    let (first, second) = (cipher.seal(whole, isLast: false), cipher.seal(whole, isLast: false))
    let last = cipher.seal([1, 2, 3], isLast: true)
    let (keys, begin) = (try AgeFiles.keys(), header + nonce)
    #expect(try AgeFiles.decrypt(begin + first + second + last, keys).count == 2 * PayloadCipher.pieceCount + 3)
    for wrong in [
      first + last, second + first + last, first + first + second + last, first + second, first, [],
      first + second + last + last, first + second + last.dropLast(), last,
    ] as [[UInt8]] {
      #expect(throws: AgeError.self) { try AgeFiles.decrypt(begin + wrong, keys) }
    }
    // An empty piece is for an empty file only.
    var other = PayloadCipher(key, nonce: nonce)
    let emptied = other.seal(whole, isLast: false) + other.seal([], isLast: true)
    #expect(throws: AgeError.self) { try AgeFiles.decrypt(begin + emptied, keys) }
    var short = PayloadCipher(key, nonce: nonce)
    let shortened = short.seal(whole.dropLast(), isLast: false) + short.seal([1], isLast: true)
    #expect(throws: AgeError.self) { try AgeFiles.decrypt(begin + shortened, keys) }
  }

  @Test("recipients of kinds that nobody knows are left alone")
  func grease() throws {
    let unknown = AgeStanza(["joint", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", "x"], [UInt8](repeating: 3, count: 96))
    let empty = AgeStanza(["ssh-ed25519"], [])
    #expect(try AgeFiles.decrypt(AgeFiles.file([unknown, empty]), AgeFiles.keys()) == [1, 2, 3])
  }

  @Test("recipients that are not as the format has them")
  func stanzas() throws {
    let zero = String(decoding: UnpaddedBase64.encode([UInt8](repeating: 0, count: 32)), as: UTF8.self)
    let body = [UInt8](repeating: 0, count: 32)
    let salt = String(decoding: UnpaddedBase64.encode([UInt8](repeating: 0, count: 16)), as: UTF8.self)
    for stanza in [
      AgeStanza(["X25519", zero], body), AgeStanza(["X25519"], body), AgeStanza(["X25519", AgeFiles.recipient], body),
      AgeStanza(["X25519", zero, "x"], body), AgeStanza(["X25519", zero], body + [0]),
      // A passphrase is never beside others.
      AgeStanza(["scrypt", salt, "3"], body),
    ] {
      #expect(throws: AgeError.self, "\(stanza.arguments)") {
        try AgeFiles.decrypt(AgeFiles.file([stanza]), AgeFiles.keys())
      }
    }
  }

  @Test("a passphrase that would take hours to hash is refused at once")
  func work() throws {
    let key = FileKey.random()
    let stanza = try ScryptStanza.wrap(key, with: "x", work: 3)
    for work in [
      "21", "22", "30", "63", "64", "1000000", "9223372036854775807", "9223372036854775808", "0", "-1", "03", "+3",
      "3.0", "",
    ] {
      let changed = AgeStanza(["scrypt", stanza.arguments[1], work].filter { !$0.isEmpty }, stanza.body)
      let file = AgeHeader([changed], key).bytes + [UInt8](repeating: 0, count: 32)
      let error = #expect(throws: AgeError.self, "\(work)") { try AgeFiles.decrypt(file, [.passphrase("x")]) }
      switch error {
      case .tooMuchWork, .malformedHeader: break
      // Had it been hashed, the passphrase would be wrong.
      default: Issue.record("\(work): \(String(describing: error))")
      }
    }
  }

  @Test("headers that are not as the format has them")
  func headers() throws {
    let file = String(decoding: try AgeFiles.encrypt([]).prefix { $0 < 0x80 }, as: UTF8.self)
    let lines = file.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let (version, first, body, code) = (lines[0], lines[1], lines[2], lines[3])
    for wrong in [
      "", "\n", "age-encryption.org/v1", "age-encryption.org/v1\n",
      "age-encryption.org/v2\n\(first)\n\(body)\n\(code)\n",
      "AGE-encryption.org/v1\n\(first)\n\(body)\n\(code)\n", "\(version)\r\n\(first)\r\n\(body)\r\n\(code)\r\n",
      "\(version)\n\(code)\n", "\(version)\n\(first)\n\(code)\n", "\(version)\n\(first) \n\(body)\n\(code)\n",
      "\(version)\n-> \n\(body)\n\(code)\n", "\(version)\n->  x\n\(body)\n\(code)\n",
      "\(version)\n\(first)\n\(body)=\n\(code)\n",
      "\(version)\n\(first)\n\(body)\n--- \n", "\(version)\n\(first)\n\(body)\n---\n",
      "\(version)\n\(first)\n\(body)\n\(code)=\n",
      "\(version)\n\(first)\n\(body)\n\(code) x\n", "\(version)\n\(first)\n\(body)\n\n\(code)\n",
      "\(version)\n\(first)\n\(body)\n" + String(repeating: "-> x\n\n", count: 20_000),
      "\(version)\n-> x\n" + String(repeating: String(repeating: "A", count: 64) + "\n", count: 10_000),
      "\(version)\n-> " + String(repeating: "x", count: 1 << 20), String(repeating: "x", count: 1 << 20),
      "-----BEGIN AGE ENCRYPTED FILE-----\n",
      "-----BEGIN AGE ENCRYPTED FILE-----" + String(repeating: "x", count: 1 << 20),
    ] {
      #expect(throws: AgeError.self, "\(wrong.prefix(200))") {
        try AgeFiles.decrypt(Array(wrong.utf8), AgeFiles.keys())
      }
    }
    #expect(throws: AgeError.notAge) { try AgeFiles.decrypt(Array("hello\nworld".utf8), AgeFiles.keys()) }
    #expect(throws: AgeError.notAge) { try AgeFiles.decrypt([0x28, 0xB5, 0x2F, 0xFD], AgeFiles.keys()) }
    #expect(throws: AgeError.otherVersion("age-encryption.org/v2")) {
      try AgeFiles.decrypt(Array("age-encryption.org/v2\n".utf8), AgeFiles.keys())
    }
  }

  @Test("what a source throws is thrown on")
  func failure() throws {
    struct Broken: Error {}
    #expect(throws: Broken.self) { try AgeReader { _ in throw Broken() } }
  }
}
