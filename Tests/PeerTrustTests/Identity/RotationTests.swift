import Foundation
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct RotationTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test("the key and the certificate are new, the id stays, and nothing of the old is left")
  func rotates() async throws {
    let old = try await IdentityStore.loadOrCreate(in: directory.url)
    let new = try await IdentityStore.rotate(in: directory.url)
    #expect(new.id == old.id)
    #expect(new.fingerprint != old.fingerprint)
    #expect(new.privateKeyPEM != old.privateKeyPEM)
    #expect(try await IdentityStore.loadOrCreate(in: directory.url) == new)
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: directory.url.path)) == ["identity", ".identity.lock"])
    for name in ["certificate.pem", "key.pem", "id"] { #expect(try directory.mode("identity/\(name)") == 0o600) }
  }

  @Test("the old key has signed the new certificate; another rotation has its own statement")
  func statement() async throws {
    let first = try await IdentityStore.loadOrCreate(in: directory.url)
    #expect(first.rotation == nil)
    let second = try await IdentityStore.rotate(in: directory.url)
    let statement = try #require(second.rotation)
    #expect(statement.replaced == first.fingerprint)
    #expect(statement.isSigned(for: second.fingerprint))
    #expect(!statement.isSigned(for: first.fingerprint))
    #expect(RotationStatement(text: statement.text) == statement)
    #expect(try directory.mode("identity/rotation") == 0o600)
    let third = try await IdentityStore.rotate(in: directory.url)
    #expect(third.rotation?.replaced == second.fingerprint)
    #expect(third.rotation?.isSigned(for: third.fingerprint) == true)
  }

  @Test("a statement that cannot be read is as good as none", arguments: ["", "AAAA.AAAA", "x", ".", "AA=.AA"])
  func damagedStatement(text: String) async throws {
    _ = try await IdentityStore.loadOrCreate(in: directory.url)
    let rotated = try await IdentityStore.rotate(in: directory.url)
    try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path("identity/rotation")))
    let loaded = try await IdentityStore.loadOrCreate(in: directory.url)
    #expect(loaded.fingerprint == rotated.fingerprint)
    #expect(loaded.rotation?.isSigned(for: loaded.fingerprint) != true)
  }

  @Test("there must be something to replace")
  func nothingThere() async throws {
    await #expect(throws: IdentityError.missing(path: directory.path("identity"))) {
      try await IdentityStore.rotate(in: directory.url)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
  }

  @Test("a damaged identity is left as it is")
  func damaged() async throws {
    _ = try await IdentityStore.loadOrCreate(in: directory.url)
    try Data("garbage".utf8).write(to: URL(fileURLWithPath: directory.path("identity/certificate.pem")))
    await #expect(throws: IdentityError.self) { try await IdentityStore.rotate(in: directory.url) }
    #expect(FileManager.default.contents(atPath: directory.path("identity/certificate.pem")) == Data("garbage".utf8))
  }

  @Test("what a crash left of an earlier rotation is in nobody's way")
  func leftOver() async throws {
    let old = try await IdentityStore.loadOrCreate(in: directory.url)
    try FileManager.default.copyItem(atPath: directory.path("identity"), toPath: directory.path("identity.new"))
    #expect(try await IdentityStore.loadOrCreate(in: directory.url) == old)
    let new = try await IdentityStore.rotate(in: directory.url)
    #expect(new.fingerprint != old.fingerprint)
    #expect(!FileManager.default.fileExists(atPath: directory.path("identity.new")))
  }

  @Test("rotations at once follow one another")
  func atOnce() async throws {
    _ = try await IdentityStore.loadOrCreate(in: directory.url)
    let url = directory.url
    let all = try await withThrowingTaskGroup(of: PeerIdentity.self) { group in
      for _ in 0..<6 { group.addTask { try await IdentityStore.rotate(in: url) } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(all.count == 6)
    #expect(all.contains(try await IdentityStore.loadOrCreate(in: url)))
  }
}
