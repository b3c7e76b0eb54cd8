import Foundation
import HealthStore
import PeerTrust
import TestSupport
import Testing

@testable import Diagnosis

@Suite("The home")
struct HomeTests {
  private let home: TemporaryHome

  init() throws {
    home = try TemporaryHome()
  }

  private var subject: Subject { .test(home: home.path) }

  private func makeEverything() async throws {
    _ = try await IdentityStore.loadOrCreate(in: home.url)
    _ = try await PeerRegistry.open(in: home.url)
    try await HealthStore(directory: home.path).audit.record(AuditEvent(.imported, [:]))
  }

  private func fillStore() async throws {
    var maker = SampleMaker(seed: 7)
    try await HealthStore(directory: home.path).apply(
      ChangeBatch(additions: (0..<5000).map { maker.steps(at: $0) }))
  }

  private func findings(checksStore: Bool = false) async -> [Finding] {
    let subject = Subject.test(home: home.path, checksStore: checksStore)
    return await Doctor(checks: [
      ClockCheck(subject: subject, machine: .fake()), PermissionsCheck(subject: subject), DiskCheck(subject: subject),
      StoreCheck(subject: subject), IdentityCheck(subject: subject), PeersCheck(subject: subject),
    ]).examine()
  }

  // MARK: Nothing is changed

  @Test("an empty home stays empty, a missing one missing")
  func emptyHome() async throws {
    let before = try home.traces()
    let found = await findings(checksStore: true)
    #expect(found.areHealthy, "\(found)")
    #expect(try home.traces() == before)
    let missing = home.path + "/deep/missing"
    _ = await StoreCheck(subject: .test(home: missing, checksStore: true)).findings()
    _ = await PeersCheck(subject: .test(home: missing)).findings()
    #expect(!FileManager.default.fileExists(atPath: home.path + "/deep"))
  }

  @Test("a used home is healthy, and not a file in it is touched", .timeLimit(.minutes(5)))
  func usedHome() async throws {
    try await makeEverything()
    try await home.untilAtRest()
    let before = try home.traces()
    let found = await findings(checksStore: true)
    #expect(found.areHealthy, "\(found)")
    #expect(found.contains { $0.id == "store.sound" })
    #expect(try home.traces() == before)
  }

  @Test("a home in use is healthy, and its files hold the same bytes after", .timeLimit(.minutes(5)))
  func homeInUse() async throws {
    let store = try HealthStore(directory: home.path)
    let registry = try await PeerRegistry.open(in: home.url)
    try await makeEverything()
    // The index of the log is where readers and writers meet.
    func traces() throws -> [String] { try home.traces().filter { !$0.contains("-shm") } }
    let before = try traces()
    let found = await findings()
    #expect(found.areHealthy, "\(found)")
    #expect(try traces() == before)
    withExtendedLifetime((store, registry)) {}
  }

  // MARK: Permissions

  @Test("modes: what others may read or write, with the command for it")
  func modes() async throws {
    try await makeEverything()
    #expect(await PermissionsCheck(subject: subject).findings().ids == ["permissions.ok"])
    try home.setMode(0o750)
    try home.setMode(0o644, of: "store.sqlite")
    let open = await PermissionsCheck(subject: subject).findings()
    #expect(open.ids == ["permissions.directory", "permissions.files"])
    #expect(open[0].remedy == "chmod 700 \(home.path)")
    #expect(open[1].remedy == "chmod 600 \(home.path)/store.sqlite")
    try home.setMode(0o777)
    let writable = await PermissionsCheck(subject: subject).findings()
    #expect(writable.first?.id == "permissions.writable" && !writable.areHealthy)
  }

  @Test("a home of another user")
  func owner() async throws {
    var check = PermissionsCheck(subject: subject)
    check.user = geteuid() &+ 12345
    let found = await check.findings()
    #expect(found.first?.id == "permissions.owner")
    #expect(found.first?.remedy?.contains("if it is yours: sudo chown -R \(check.user) \(home.path)") == true)
  }

  @Test("a file in the home's place")
  func fileInPlace() async throws {
    try home.write("file", "")
    let found = await PermissionsCheck(subject: .test(home: home.path + "/file")).findings()
    #expect(found.ids == ["permissions.kind"])
  }

  // MARK: Identity

  @Test("a key that others may read: not used, and the chmod")
  func openKey() async throws {
    try await makeEverything()
    #expect(await IdentityCheck(subject: subject).findings().ids == ["identity.ok"])
    try home.setMode(0o640, of: "identity/key.pem")
    let found = await IdentityCheck(subject: subject).findings()
    #expect(found.ids == ["identity.open"] && !found.areHealthy)
    #expect(found[0].remedy == "chmod 600 \(home.path)/identity/key.pem")
  }

  @Test("a damaged, incomplete, foreign identity")
  func brokenIdentity() async throws {
    try await makeEverything()
    let other = try TemporaryHome()
    _ = try await IdentityStore.loadOrCreate(in: other.url)
    let key = try String(contentsOfFile: other.path + "/identity/key.pem", encoding: .utf8)
    try home.write("identity/key.pem", key)
    #expect(await IdentityCheck(subject: subject).findings().ids == ["identity.mismatch"])
    try home.write("identity/key.pem", "rubbish")
    #expect(await IdentityCheck(subject: subject).findings().ids == ["identity.damaged"])
    try FileManager.default.removeItem(atPath: home.path + "/identity/key.pem")
    #expect(await IdentityCheck(subject: subject).findings().ids == ["identity.incomplete"])
  }

  @Test("the certificate's dates are read from it, and judged")
  func validity() async throws {
    let identity = try await IdentityStore.loadOrCreate(in: home.url)
    let validity = try #require(identity.validity)
    #expect(abs(validity.start.timeIntervalSinceNow + 86_400) < 600)
    #expect(abs(validity.duration - 9132 * 86_400) < 86_401)
    func id(at now: Date) -> String { IdentityCheck.judge(validity, shortID: "x", now: now).id }
    #expect(id(at: Date()) == "identity.ok")
    #expect(id(at: validity.start.addingTimeInterval(-1)) == "identity.future")
    #expect(id(at: validity.end) == "identity.expired")
    #expect(id(at: validity.end.addingTimeInterval(-86_400)) == "identity.ending")
    func severity(daysBefore days: Double) -> Finding.Severity {
      IdentityCheck.judge(validity, shortID: "x", now: validity.end - days * 86_400).severity
    }
    #expect(severity(daysBefore: 91) == .ok)
    #expect(severity(daysBefore: 60) == .note)
    #expect(severity(daysBefore: 29) == .warning)
  }

  // MARK: Store

  @Test("no store yet is a note; another program's, a newer one's and a damaged one stand in the way")
  func stores() async throws {
    #expect(await StoreCheck(subject: subject).findings().first?.severity == .note)
    try home.write("store.sqlite", String(repeating: "not a database ", count: 100))
    let found = await StoreCheck(subject: subject).findings()
    #expect(found.ids == ["store.damaged"] && !found.areHealthy)
    #expect(found[0].remedy?.contains("nothing was changed") == true)
  }

  @Test("a corrupted page: said so, and the file's bytes are the same after")
  func corruptedPage() async throws {
    try await fillStore()
    try await home.untilAtRest()
    let path = home.path + "/store.sqlite"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for offset in stride(from: 40 * 4096, to: min(bytes.count, 60 * 4096), by: 7) { bytes[offset] ^= 0x5A }
    try bytes.write(to: URL(fileURLWithPath: path))
    let before = try home.traces()
    for checksStore in [false, true] {
      let found = await StoreCheck(subject: .test(home: home.path, checksStore: checksStore)).findings()
      #expect(found.contains { $0.id == "store.damaged" && $0.severity == .blocking }, "\(found)")
    }
    #expect(try home.traces() == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
  }

  @Test("what a pull would stumble over is found without --check-store: an index of samples, and what opening reads")
  func whatPullRefuses() async throws {
    try await fillStore()
    try await home.untilAtRest()
    let path = home.path + "/store.sqlite"
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(await StoreCheck(subject: subject).findings().ids == ["store.ok"])
    for page in stride(from: 3, to: whole.count / 4096, by: 29) {
      var bytes = whole
      bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: repeatElement(0xAA, count: 4096))
      try bytes.write(to: URL(fileURLWithPath: path))
      let found = await StoreCheck(subject: subject).findings()
      #expect(!found.areHealthy && found.allSatisfy { $0.id.hasPrefix("store.damaged") }, "page \(page): \(found)")
    }
  }

  @Test("a store that takes too long to read is said to be unread, and stands in nobody's way")
  func unreadStore() async throws {
    try await fillStore()
    var check = StoreCheck(subject: subject)
    check.quickLimit = .zero
    check.integrity = { _, _ in
      try? await Task.sleep(for: .seconds(3600))
      return .success(StoreIntegrity())
    }
    let found = await check.findings()
    #expect(found.ids == ["store.unread"] && found.areHealthy)
    #expect(found[0].remedy == "hpeer doctor --check-store")
  }
}
