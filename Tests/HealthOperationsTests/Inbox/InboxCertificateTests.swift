import Foundation
import Logging
import OperatingSystem
import PeerServer
import PeerTrust
import TestSupport
import Testing

@testable import HealthOperations

@Suite("The certificate of an inbox", .timeLimit(.minutes(5)))
struct InboxCertificateTests {
  /// A home with its own certificate authority, and a certificate of that authority in two files.
  private struct Files {
    let directory: TemporaryDirectory
    var authority: String { directory.path("inbox/authority.pem") }

    init() throws { directory = try TemporaryDirectory() }

    func issue(certificate: String, key: String) throws {
      let leaf = try InboxAuthority.loadOrCreate(in: directory.url, for: .current).issue(for: .current)
      try Data(leaf.keyPEM.utf8).write(to: URL(filePath: key))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
      try Data(leaf.chainPEM.utf8).write(to: URL(filePath: certificate))
    }
  }

  @Test("files that change are shown from then on, and such as cannot be used are not")
  func reloading() async throws {
    let home = try TestHome()
    let (certificate, key) = (home.directory.path("cert.pem"), home.directory.path("key.pem"))
    let (first, second) = (try Files(), try Files())
    try first.issue(certificate: certificate, key: key)
    let source = InboxCertificateSource.files(certificate: certificate, key: key)
    try await RunningInbox.run(home, certificates: source, interval: .milliseconds(50)) { inbox in
      #expect(try await inbox.curl([], "/", trusting: first.authority).status == 404)
      await #expect(throws: RunningInbox.Unanswered.self) {
        try await inbox.curl([], "/", trusting: second.authority)
      }
      try Data("nonsense".utf8).write(to: URL(filePath: certificate))
      #expect(try await inbox.curl([], "/", trusting: first.authority).status == 404)
      try second.issue(certificate: certificate, key: key)
      let end = ContinuousClock.now + .seconds(60)
      var status: Int?
      while status != 404, ContinuousClock.now < end {
        status = try? await inbox.curl([], "/", trusting: second.authority).status
      }
      #expect(status == 404)
    }
  }

  @Test("a certificate of the home's authority is replaced when it ends soon or the machine is called otherwise")
  func renewal() async throws {
    let home = try TestHome()
    let source = InboxCertificateSource.authority(of: home.home)
    let first = try #require(try await source(nil))
    #expect(try await source(first.version) == nil)
    let mark = try #require(first.version.split(separator: "|", maxSplits: 1).last)
    let renewed = try #require(try await source("0|\(mark)"))
    #expect(renewed.chain != first.chain)
    #expect(try await source("9999999999|another") != nil)
  }

  @Test("a key that others can read is refused, and taken once they cannot", arguments: [0o604, 0o644, 0o602])
  func openKey(mode: Int) async throws {
    let home = try TestHome()
    let (certificate, key) = (home.directory.path("cert.pem"), home.directory.path("key.pem"))
    try Files().issue(certificate: certificate, key: key)
    let source = InboxCertificateSource.files(certificate: certificate, key: key)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
    let owner = try #require(FileStatus(key)).owner
    let error = IdentityError.permissionsTooOpen(path: key, mode: owner == 0 ? "640" : "600")
    await #expect(throws: error) { try await source(nil) }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    #expect(try await source(nil) != nil)
  }

  @Test("files that are no certificate are said at the start")
  func nonsense() async throws {
    let home = try TestHome()
    let file = try home.file("nonsense.pem", "nonsense")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    var settings = InboxSettings()
    (settings.host, settings.port) = ("127.0.0.1", 0)
    for path in [file, home.directory.path("missing.pem")] {
      settings.security = .files(certificate: path, key: path)
      let local = LocalPeer(
        store: home.store, registry: try await home.home.openRegistry(), identity: try await home.home.identity())
      let operation = InboxOperation(home.home, local, settings, logger: Logger(label: "test")) { _ in }
      await #expect(throws: InboxCertificateError.self) { try await operation.run() }
    }
  }
}
