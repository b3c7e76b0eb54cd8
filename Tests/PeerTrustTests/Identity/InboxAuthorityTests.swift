import Foundation
import OperatingSystem
import Testing

@testable import PeerTrust

@Suite struct InboxAuthorityTests {
  private let names = InboxHostNames(
    hostName: "Studio.example.org", addresses: ["192.168.1.9", "fe80::1%eth0", "fd00::9"])

  @Test("a machine is called what others call it, and nothing that a certificate cannot have")
  func hostNames() {
    #expect(names.names == ["localhost", "studio.example.org", "studio.local"])
    // By its first part alone it could vouch for a whole domain of the Internet.
    #expect(InboxHostNames(hostName: "app", addresses: []).names == ["app.local", "localhost"])
    #expect(names.addresses == ["127.0.0.1", "192.168.1.9", "::1", "fd00::9"])
    #expect(InboxHostNames(hostName: "a,DNS:bank.example", addresses: []).names == ["localhost"])
  }

  @Test("it is made once, kept to its owner, and replaced when that is asked for")
  func files() throws {
    let directory = try TemporaryDirectory()
    let first = try InboxAuthority.loadOrCreate(in: directory.url, for: names)
    let other = InboxHostNames(hostName: "attic", addresses: [])
    let again = try InboxAuthority.loadOrCreate(in: directory.url, for: other)
    #expect(again.fingerprint == first.fingerprint && again.names == names)
    let folder = directory.url.appending(path: "inbox").path
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      #expect(PrivateFile.mode(folder + "/" + file).map { $0 & 0o077 } == 0, "\(file)")
    }
    let replaced = try InboxAuthority.loadOrCreate(in: directory.url, for: other, replaces: true)
    #expect(replaced.fingerprint != first.fingerprint && replaced.names == other)
    #expect(!"\(replaced)".contains("PRIVATE"))
    let profile = InboxProfile(replaced, host: "a<b&c")
    #expect(profile.text.contains("a&lt;b&amp;c"))
    #expect(profile.text.contains(Data(replaced.certificateDER).base64EncodedString()))
    let plist = try PropertyListSerialization.propertyList(from: Data(profile.text.utf8), format: nil)
    #expect((plist as? [String: Any])?["PayloadType"] as? String == "Configuration")
  }

  @Test("openssl trusts what it signs for this machine, by each of its names, and nothing that it signs for another")
  func chain() async throws {
    let authority = try InboxAuthority(for: names)
    let directory = try TemporaryDirectory()
    let path = directory.url.path
    try Data(authority.certificatePEM.utf8).write(to: URL(filePath: path + "/authority.pem"))
    func verify(_ leaf: String, _ arguments: [String]) async throws -> Int32? {
      try Data(leaf.utf8).write(to: URL(filePath: path + "/leaf.pem"))
      let outcome = await CommandRunner.run(
        "openssl",
        ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", path + "/authority.pem"] + arguments + [
          path + "/leaf.pem"
        ], limit: 60)
      guard case .finished(let status, _, _) = outcome else { return nil }
      return status
    }
    let leaf = try authority.issue(for: names)
    for name in names.names { #expect(try await verify(leaf.chainPEM, ["-verify_hostname", name]) == 0, "\(name)") }
    for address in names.addresses {
      #expect(try await verify(leaf.chainPEM, ["-verify_ip", address]) == 0, "\(address)")
    }
    // What the machine is called later, the authority cannot vouch for.
    let moved = try authority.issue(for: InboxHostNames(hostName: "attic", addresses: ["10.0.0.1"]))
    #expect(moved.names.names == ["localhost"] && moved.names.addresses == ["127.0.0.1", "::1"])
    #expect(leaf.renewal > Date() + 59 * 86_400 && leaf.renewal < Date() + 61 * 86_400)
  }
}
