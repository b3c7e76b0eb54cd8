import Foundation
import TestSupport
import Testing

@testable import AgeEncryption

@Suite struct AgeFormatTests {
  @Test(
    "what is encrypted comes back, whatever its length and however it is handed over",
    arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
  func roundTrip(length: Int) throws {
    var generator = SeededGenerator(seed: UInt64(length))
    let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    for pieces in [1 << 20, 65_536, 977] {
      let file = try AgeFiles.encrypt(bytes, pieces: pieces)
      #expect(try AgeFiles.decrypt(file, AgeFiles.keys(), step: pieces) == bytes)
    }
    let file = try AgeFiles.encrypt(bytes, to: [.passphrase("correct horse")])
    #expect(try AgeFiles.decrypt(file, [.passphrase("correct horse")]) == bytes)
  }

  @Test("a file that age 1.1.1 wrote, armored")
  func known() throws {
    let armored = """
      -----BEGIN AGE ENCRYPTED FILE-----
      YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSB6eUtYREJJVkUrSUFReFlJ
      RjZWRlpDTlBPNVo1RmVqdGJRRElvZU91eWxjCk80S2JGZjZSWUZwQmIxdEhOY21x
      K1pYWDlWY243ZEVpZUs2bnhGMVY3Q0EKLS0tIDR4cG9NR2Nyb0c3clcvc1VNelhE
      UkhtcmlRRjVYRmtBblgwRzVsOEVPcGsKo1SHrFMiRIS+ZzLYLVIgdGGallMmLkFj
      WlQk3K2lLr9ycdRR
      -----END AGE ENCRYPTED FILE-----

      """
    for text in [armored, armored.replacing("\n", with: "\r\n"), String(armored.dropLast()), armored + " \n\n"] {
      #expect(try AgeFiles.decrypt(Array(text.utf8), AgeFiles.keys(), step: 7) == Array("test".utf8))
    }
    // Another spelling of the same bytes, something behind, and a line that is too long.
    let lines = armored.split(separator: "\n").map(String.init)
    for wrong in [
      armored + "x", armored.replacing("9ycdRR", with: "9yc\ndRR"), armored.replacing("cdRR\n", with: "cdRR==\n"),
      lines[0] + "\n" + lines[1] + lines[2] + "\n" + lines[3...].joined(separator: "\n"),
      armored.replacing(lines[2], with: ""), lines.dropLast().joined(separator: "\n") + "\n",
    ] {
      #expect(throws: AgeError.self) { try AgeFiles.decrypt(Array(wrong.utf8), AgeFiles.keys()) }
    }
  }

  @Test("keys have one spelling")
  func keys() throws {
    let key = try #require(try AgeFiles.keys().first)
    #expect(key.text == AgeFiles.key)
    #expect(key.recipient == AgeFiles.recipient)
    #expect(!"\(key) \(String(reflecting: key))".contains("SECRET"))
    let file = "# created: today\n\n\(AgeFiles.key)\r\n\n\(try #require(AgeKey.generate().text))\n"
    #expect(try AgeKey.all(in: file).count == 2)
    #expect(throws: AgeError.badKey(line: 2)) { try AgeKey.all(in: "#\n\(AgeFiles.key.lowercased())") }
    #expect(throws: AgeError.noKeys) { try AgeKey.all(in: "# nothing\n") }
    let recipient = AgeFiles.recipient
    for wrong in [
      recipient.uppercased(), String(recipient.dropLast()), recipient.replacing("zvk", with: "zvq"), "age1", "",
      "ssh-ed25519 AAAA", AgeFiles.key, recipient.replacing("z", with: "Z"), "b" + recipient,
    ] {
      #expect(throws: AgeError.self, "\(wrong)") { try AgeRecipient(wrong) }
    }
  }

  @Test("several recipients each open it, and nobody else")
  func recipients() throws {
    let keys = (0..<3).map { _ in AgeKey.generate() }
    let file = try AgeFiles.encrypt([1, 2, 3], to: keys[..<2].map { try AgeRecipient($0.recipient ?? "") })
    for key in keys[..<2] { #expect(try AgeFiles.decrypt(file, [keys[2], key]) == [1, 2, 3]) }
    #expect(throws: AgeError.noMatchingKey) { try AgeFiles.decrypt(file, [keys[2]]) }
    #expect(throws: AgeError.needsKey) { try AgeFiles.decrypt(file, []) }
    #expect(throws: AgeError.needsKey) { try AgeFiles.decrypt(file, [.passphrase("x")]) }
    let locked = try AgeFiles.encrypt([1], to: [.passphrase("one")])
    #expect(throws: AgeError.wrongPassphrase) { try AgeFiles.decrypt(locked, [.passphrase("two")]) }
    #expect(throws: AgeError.needsPassphrase) { try AgeFiles.decrypt(locked, keys) }
    #expect(throws: AgeError.noRecipients) { try AgeEncryptor(to: []) }
    #expect(throws: AgeError.passphraseBesideOthers) {
      try AgeEncryptor(to: [AgeRecipient(AgeFiles.recipient), .passphrase("x")])
    }
  }

  // MARK: The judge

  @Test("age opens what is written here", .enabled(if: AgeProgram.isInstalled, "needs the Debian package age"))
  func ageOpens() throws {
    let folder = try TemporaryDirectory()
    try Data((AgeFiles.key + "\n").utf8).write(to: URL(filePath: folder.path("key")))
    for length in [1, 65_536, 150_000] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try Data(AgeFiles.encrypt(bytes)).write(to: URL(filePath: folder.path("file")))
      try AgeProgram.run("-d", "-i", folder.path("key"), "-o", folder.path("out-\(length)"), folder.path("file"))
      #expect(try Data(contentsOf: URL(filePath: folder.path("out-\(length)"))) == Data(bytes))
    }
    try Data(AgeFiles.encrypt([5], to: [.passphrase("pass phrase")])).write(to: URL(filePath: folder.path("locked")))
    try AgeProgram.run(passphrase: "pass phrase", "-d", "-o", folder.path("opened"), folder.path("locked"))
    #expect(try Data(contentsOf: URL(filePath: folder.path("opened"))) == Data([5]))
  }

  @Test("what age writes is opened here", .enabled(if: AgeProgram.isInstalled, "needs the Debian package age"))
  func opensAge() throws {
    let folder = try TemporaryDirectory()
    let bytes = (0..<140_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try Data(bytes).write(to: URL(filePath: folder.path("plain")))
    let other = try #require(AgeKey.generate().recipient)
    for armor in [[], ["-a"]] {
      let name = folder.path("file\(armor.count)")
      let arguments = armor + ["-r", other, "-r", AgeFiles.recipient, "-o", name, folder.path("plain")]
      try AgeProgram.run(all: arguments)
      #expect(try AgeFiles.decrypt(Array(Data(contentsOf: URL(filePath: name))), AgeFiles.keys()) == bytes)
    }
    try AgeProgram.run(passphrase: "word", "-p", "-o", folder.path("locked"), folder.path("plain"))
    let locked = Array(try Data(contentsOf: URL(filePath: folder.path("locked"))))
    #expect(try AgeFiles.decrypt(locked, [.passphrase("word")]) == bytes)
  }
}
