import Cryptography
import Foundation
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct IdentityStoreTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func load() throws -> PeerIdentity { try IdentityStore.loadOrCreate(in: directory.url) }

  private func contents() -> [String: Data] {
    ["certificate.pem", "key.pem", "id"].reduce(into: [:]) {
      $0[$1] = FileManager.default.contents(atPath: directory.path("identity/\($1)"))
    }
  }

  private func chmod(_ name: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path(name))
  }

  @Test func theSecondRunFindsTheFirstsIdentity() async throws {
    let first = try load()
    let second = try await IdentityStore.loadOrCreate(in: directory.url)
    #expect(first == second)
    #expect(first.fingerprint == Fingerprint(certificateDER: first.certificateDER))
    #expect(first.certificatePEM.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    #expect(first.privateKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
  }

  @Test func identitiesDiffer() throws {
    let other = try TemporaryDirectory()
    let first = try load()
    let second = try IdentityStore.loadOrCreate(in: other.url)
    #expect(first.id != second.id)
    #expect(first.fingerprint != second.fingerprint)
    #expect(first.privateKeyPEM != second.privateKeyPEM)
  }

  @Test func everythingIsPrivate() throws {
    _ = try load()
    #expect(try directory.mode("identity") == 0o700)
    for name in ["certificate.pem", "key.pem", "id"] { #expect(try directory.mode("identity/\(name)") == 0o600) }
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: directory.url.path)) == ["identity", ".identity.lock"])
  }

  @Test func missingParentsAreMade() throws {
    let deep = directory.url.appending(path: "a/b/c")
    _ = try IdentityStore.loadOrCreate(in: deep)
    #expect(try directory.mode("a/b") == 0o700)
  }

  @Test func firstRunsAtOnceAgree() async throws {
    let url = directory.url
    let identities = try await withThrowingTaskGroup(of: PeerIdentity.self) { group in
      for _ in 0..<8 { group.addTask { try await IdentityStore.loadOrCreate(in: url) } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(identities.count == 1)
  }

  @Test func remainsOfACrashAreReplaced() throws {
    try FileManager.default.createDirectory(atPath: directory.path("identity.new"), withIntermediateDirectories: true)
    try Data("half".utf8).write(to: directory.url.appending(path: "identity.new/key.pem"))
    let identity = try load()
    #expect(try load() == identity)
    #expect(!FileManager.default.fileExists(atPath: directory.path("identity.new")))
  }

  // MARK: Refusals

  @Test(arguments: [0o640, 0o604, 0o660, 0o644, 0o666])
  func anOpenKeyIsRefused(mode: Int) throws {
    _ = try load()
    let before = contents()
    try chmod("identity/key.pem", mode)
    let path = directory.path("identity/key.pem")
    let error = #expect(throws: IdentityError.permissionsTooOpen(path: path, mode: "600")) { try load() }
    #expect(error?.description.contains("chmod 600 \(path)") == true)
    try chmod("identity/key.pem", 0o600)
    #expect(contents() == before)
    #expect(throws: Never.self) { try load() }
  }

  @Test func aDirectoryThatOthersMayWriteIsRefused() throws {
    _ = try load()
    try chmod("identity", 0o770)
    #expect(throws: IdentityError.permissionsTooOpen(path: directory.path("identity"), mode: "700")) { try load() }
  }

  @Test(arguments: ["certificate.pem", "key.pem", "id"])
  func aMissingFileIsNotMadeAgain(name: String) throws {
    _ = try load()
    try FileManager.default.removeItem(atPath: directory.path("identity/\(name)"))
    let before = contents()
    #expect(throws: IdentityError.incomplete(directory: directory.path("identity"), missing: [name])) { try load() }
    #expect(contents() == before)
  }

  @Test(
    arguments: ["certificate.pem", "key.pem", "id"],
    ["", "garbage", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"])
  func aDamagedFileIsNotReplaced(name: String, text: String) throws {
    _ = try load()
    try Data(text.utf8).write(to: directory.url.appending(path: "identity/\(name)"))
    try chmod("identity/\(name)", 0o600)
    let before = contents()
    let error = #expect(throws: IdentityError.self) { try load() }
    guard case .malformed(directory.path("identity/\(name)"), _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(contents() == before)
  }

  @Test func anEncryptedKeyIsRefusedWithoutAsking() throws {
    _ = try load()
    let encrypted = """
      -----BEGIN EC PRIVATE KEY-----
      Proc-Type: 4,ENCRYPTED
      DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
      -----END EC PRIVATE KEY-----
      """
    try Data(encrypted.utf8).write(to: directory.url.appending(path: "identity/key.pem"))
    try chmod("identity/key.pem", 0o600)
    #expect(throws: IdentityError.self) { try load() }
  }

  @Test func aForeignKeyIsRefused() throws {
    _ = try load()
    let key = try PrivateKey.generateP256().pem()
    try Data(key.utf8).write(to: directory.url.appending(path: "identity/key.pem"))
    try chmod("identity/key.pem", 0o600)
    #expect(throws: IdentityError.keyMismatch(directory: directory.path("identity"))) { try load() }
  }

  @Test func aFileInTheDirectorysPlaceIsLeftAlone() throws {
    try Data("precious".utf8).write(to: directory.url.appending(path: "identity"))
    #expect(throws: IdentityError.self) { try load() }
    #expect(FileManager.default.contents(atPath: directory.path("identity")) == Data("precious".utf8))
  }

  @Test func theCommandInTheErrorIsQuoted() {
    let error = IdentityError.permissionsTooOpen(path: "/home/o'neill/my dir/key.pem", mode: "600")
    #expect(error.description.hasSuffix(#"chmod 600 '/home/o'\''neill/my dir/key.pem'"#))
  }

  @Test func theKeyIsNotDescribed() throws {
    let identity = try load()
    let secret = try #require(identity.privateKeyPEM.split(separator: "\n").dropFirst().first)
    var dumped = ""
    dump([identity], to: &dumped)
    #expect(!dumped.contains(secret))
    #expect(!"\(identity) \(String(reflecting: identity))".contains(secret))
  }
}

/// Tests of the certificate as an independent program reads it.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")))
struct CertificateProfileTests {
  private func openssl(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: output, as: UTF8.self)
  }

  @Test func profile() throws {
    let directory = try TemporaryDirectory()
    let identity = try IdentityStore.loadOrCreate(in: directory.url)
    let path = directory.path("identity/certificate.pem")
    let text = try openssl("x509", "-in", path, "-noout", "-text")
    for line in [
      "Version: 3 (0x2)", "Issuer: CN = hpeer", "Subject: CN = hpeer", "Signature Algorithm: ecdsa-with-SHA256",
      "ASN1 OID: prime256v1", "X509v3 Basic Constraints: critical", "CA:FALSE", "X509v3 Key Usage: critical",
      "Digital Signature", "TLS Web Server Authentication, TLS Web Client Authentication",
      "DNS:hpeer-\(identity.id.short).local, DNS:localhost",
    ] {
      #expect(text.contains(line), "\(line)")
    }
    #expect(try openssl("verify", "-CAfile", path, path).contains("OK"))
    let fingerprint = try openssl("x509", "-in", path, "-noout", "-fingerprint", "-sha256")
    let printed = try #require(fingerprint.split(separator: "=").last).trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(Fingerprint(hex: printed) == identity.fingerprint)
  }

  @Test func validity() throws {
    let directory = try TemporaryDirectory()
    _ = try IdentityStore.loadOrCreate(in: directory.url)
    let path = directory.path("identity/certificate.pem")
    let dates = try openssl("x509", "-in", path, "-noout", "-dates", "-dateopt", "iso_8601")
    let parsed = try dates.split(separator: "\n").map { line in
      let text = try #require(line.split(separator: "=").last).replacingOccurrences(of: " ", with: "T")
      return try Date(text, strategy: .iso8601)
    }
    let (begin, end) = (try #require(parsed.first), try #require(parsed.last))
    #expect(abs(begin.timeIntervalSinceNow + 86_400) < 60)
    #expect(abs(end.timeIntervalSinceNow - 25 * 365.25 * 86_400) < 2 * 86_400)
  }

  @Test func serialNumbersAreLongAndRandom() throws {
    let serials = try (0..<3).map { _ in
      let directory = try TemporaryDirectory()
      _ = try IdentityStore.loadOrCreate(in: directory.url)
      return try openssl("x509", "-in", directory.path("identity/certificate.pem"), "-noout", "-serial")
    }
    #expect(Set(serials).count == 3)
    #expect(serials.allSatisfy { $0.utf8.count > "serial=\n".utf8.count + 24 })
  }
}
