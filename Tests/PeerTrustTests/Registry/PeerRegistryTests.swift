import Foundation
import GRDB
import HealthModel
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct PeerRegistryTests {
  let directory: TemporaryDirectory
  let registry: PeerRegistry
  let now = Date(timeIntervalSince1970: 1_800_000_000)

  init() async throws {
    directory = try TemporaryDirectory()
    registry = try await PeerRegistry.open(in: directory.url)
  }

  private func id(_ byte: UInt8) throws -> PeerID { try #require(PeerID(bytes: [UInt8](repeating: byte, count: 16))) }

  private func fingerprint(_ byte: UInt8) throws -> Fingerprint {
    try #require(Fingerprint(bytes: [UInt8](repeating: byte, count: 32)))
  }

  private func token(_ byte: UInt8) throws -> BearerToken {
    try #require(BearerToken(bytes: [UInt8](repeating: byte, count: 32)))
  }

  private func client(
    _ byte: UInt8, name: String = "laptop", token: UInt8? = nil, certificate: Fingerprint? = nil,
    method: PairedClient.Method = .spake2, scope: SampleFilter? = nil, lifetime: TimeInterval = 30 * 86_400
  ) throws -> PairedClient {
    try PairedClient(
      id: id(byte), name: name, tokenHash: self.token(token ?? byte).hash, certificateFingerprint: certificate,
      method: method, pairedAt: now, expiresAt: now + lifetime, tokenLifetime: lifetime, scope: scope)
  }

  private func server(_ byte: UInt8, name: String = "studio") throws -> ServerRecord {
    try ServerRecord(
      id: id(byte), name: name, fingerprint: fingerprint(byte), credential: BearerCredential(token(byte)),
      host: "studio.local", port: 8443, created: now)
  }

  private func verdict(
    _ byte: UInt8, certificate: Fingerprint? = nil, after seconds: TimeInterval = 0
  ) async throws -> Result<ClientAuthorization, ClientRefusal> {
    try await registry.client(tokenHash: token(byte).hash, certificate: certificate, now: now + seconds)
  }

  // MARK: Clients

  @Test func aPairedClientIsLetIn() async throws {
    try await registry.addClient(client(1))
    let authorization = try await verdict(1).get()
    let expected = try ClientAuthorization(
      id: id(1), name: "laptop", tokenHash: token(1).hash, method: .spake2, scope: .everything, isOnlyDaily: false,
      lastSeen: nil, isLocked: false)
    #expect(authorization == expected)
    #expect(try await verdict(2) == .failure(.unknown))
  }

  @Test func aLockIsKnownToEveryRequestUntilItIsTakenBack() async throws {
    try await registry.addClient(client(1))
    #expect(try await registry.lockedSince() == nil)
    #expect(try await registry.unlock() == false)
    #expect(try await registry.lock(now: now))
    #expect(try await registry.lock(now: now + 60) == false)
    #expect(try await registry.lockedSince() == now)
    #expect(try await verdict(1).get().isLocked)
    // Who has no right learns nothing of it.
    #expect(try await verdict(2) == .failure(.unknown))
    #expect(try await registry.unlock())
    #expect(try await verdict(1).get().isLocked == false)
  }

  @Test func scopeRoundTrip() async throws {
    // To the microsecond: a bound that was cut would show more.
    let scope = SampleFilter(
      types: [SampleType("HKQuantityTypeIdentifierStepCount"), SampleType("a\"b")],
      earliest: Timestamp(microseconds: 1_700_000_000_123_457), end: Timestamp(microseconds: 1_800_000_000_000_001),
      sources: ["Robin's \"Watch\", 44 mm", ""])
    try await registry.addClient(client(1, scope: scope))
    #expect(try await verdict(1).get().scope == scope)
    try await registry.setScope(SampleFilter(types: []), ofClient: id(1))
    #expect(try await verdict(1).get().scope == SampleFilter(types: []))
    try await registry.setScope(SampleFilter(sources: []), ofClient: id(1))
    #expect(try await verdict(1).get().scope == SampleFilter(sources: []))
    await #expect(throws: PeerRegistryError.notFound(try id(9).hex)) {
      try await registry.setScope(.everything, ofClient: id(9))
    }
  }

  @Test func aDamagedScopeDoesNotWidenTheRight() async throws {
    try await registry.addClient(client(1, scope: SampleFilter(types: [SampleType("a")])))
    try await registry.write { db in try db.execute(sql: "UPDATE client SET types = 'null,'") }
    await #expect(throws: PeerRegistryError.damaged(path: directory.path("peers.sqlite"), reason: "column types")) {
      try await verdict(1)
    }
  }

  @Test(arguments: [PairedClient.Method.spake2, .plain])
  func theMethodIsKept(method: PairedClient.Method) async throws {
    try await registry.addClient(client(1))
    try await registry.addClient(client(1, method: method))
    #expect(try await verdict(1).get().method == method)
    #expect(try await registry.clients().map(\.method) == [method])
  }

  @Test func pairingAgainReplacesTheToken() async throws {
    try await registry.addClient(client(1))
    try await registry.revoke(id: id(1), now: now)
    try await registry.addClient(client(1, name: "renamed", token: 2))
    #expect(try await verdict(1) == .failure(.unknown))
    #expect(try await verdict(2).get().name == "renamed")
    #expect(try await registry.clients().count == 1)
  }

  @Test func expiryAndSlidingRenewal() async throws {
    try await registry.addClient(client(1))
    let day: TimeInterval = 86_400
    #expect(try await verdict(1, after: 30 * day) == .failure(.expired))
    try await registry.touch(verdict(1).get(), now: now + 29 * day)
    #expect(try await verdict(1, after: 58 * day).get().lastSeen == now + 29 * day)
    #expect(try await verdict(1, after: 59 * day) == .failure(.expired))
  }

  @Test func aTokenLivesAsLongAsItWasGiven() async throws {
    let day: TimeInterval = 86_400
    try await registry.addClient(client(1, lifetime: 7 * day))
    #expect(try await verdict(1, after: 7 * day) == .failure(.expired))
    try await registry.touch(verdict(1, after: 6 * day).get(), now: now + 6 * day)
    #expect(try await verdict(1, after: 12 * day).get().id == id(1))
    #expect(try await verdict(1, after: 13 * day) == .failure(.expired))
    try await registry.setTokenLifetime(90 * day, ofClient: id(1), now: now + 12 * day)
    #expect(try await verdict(1, after: 101 * day).get().id == id(1))
    #expect(try await verdict(1, after: 102 * day) == .failure(.expired))
    // Only pairing brings an expired or revoked token back.
    await #expect(throws: PeerRegistryError.notFound(try id(1).hex)) {
      try await registry.setTokenLifetime(90 * day, ofClient: id(1), now: now + 103 * day)
    }
    try await registry.revoke(id: id(1), now: now)
    await #expect(throws: PeerRegistryError.notFound(try id(1).hex)) {
      try await registry.setTokenLifetime(90 * day, ofClient: id(1), now: now)
    }
  }

  @Test func pairingAgainKeepsTheScopeUnlessOneIsGranted() async throws {
    let narrow = SampleFilter(types: [SampleType("a")], earliest: Timestamp(microseconds: now.microseconds))
    try await registry.addClient(client(1, scope: narrow))
    try await registry.revoke(id: id(1), now: now)
    try await registry.addClient(client(1, token: 2))
    #expect(try await verdict(2).get().scope == narrow)
    try await registry.addClient(client(1, token: 3, scope: SampleFilter(types: [SampleType("b")])))
    #expect(try await verdict(3).get().scope == SampleFilter(types: [SampleType("b")]))
    try await registry.addClient(client(1, token: 4, scope: .everything))
    #expect(try await verdict(4).get().scope == .everything)
  }

  @Test func anExpiredOrRevokedTokenIsNotRenewed() async throws {
    try await registry.addClient(client(1))
    let authorization = try await verdict(1).get()
    try await registry.touch(authorization, now: now + 31 * 86_400)
    #expect(try await registry.clients().first?.lastSeen == nil)
    try await registry.revoke(id: id(1), now: now)
    try await registry.touch(authorization, now: now + 60)
    #expect(try await registry.clients().first?.lastSeen == nil)
  }

  @Test func lastSeenIsWrittenOnceAMinute() async throws {
    try await registry.addClient(client(1))
    try await registry.touch(verdict(1).get(), now: now)
    let before = try await registry.read { try Int.fetchOne($0, sql: "PRAGMA data_version") }
    try await registry.touch(verdict(1).get(), now: now + 59)
    #expect(try await registry.clients().first?.lastSeen == now)
    #expect(try await registry.read { try Int.fetchOne($0, sql: "PRAGMA data_version") } == before)
    try await registry.touch(verdict(1).get(), now: now + 60)
    #expect(try await registry.clients().first?.lastSeen == now + 60)
  }

  @Test func aClientIsCalledWhatItCallsItselfByNow() async throws {
    try await registry.addClient(client(1, name: "laptop"))
    #expect(try await !registry.touch(verdict(1).get(), name: "laptop", now: now))
    #expect(try await registry.touch(verdict(1).get(), name: "travel laptop", now: now + 60))
    #expect(try await registry.clients().first?.name == "travel laptop")
    // As seldom as the rest, and not by silence.
    #expect(try await !registry.touch(verdict(1).get(), name: "other", now: now + 61))
    #expect(try await !registry.touch(verdict(1).get(), now: now + 120))
    #expect(try await registry.clients().first?.name == "travel laptop")
  }

  @Test func aBoundTokenNeedsItsCertificate() async throws {
    try await registry.addClient(client(1, certificate: fingerprint(7)))
    #expect(try await verdict(1) == .failure(.wrongCertificate(of: id(1))))
    #expect(try await verdict(1, certificate: fingerprint(8)) == .failure(.wrongCertificate(of: id(1))))
    #expect(try await verdict(1, certificate: fingerprint(7)).get().id == id(1))
    let record = try #require(await registry.clients().first)
    #expect(record.isBound)
    #expect(record.certificateFingerprint == (try fingerprint(7)))
  }

  @Test func anUnboundTokenIgnoresTheCertificate() async throws {
    try await registry.addClient(client(1))
    #expect(try await verdict(1, certificate: fingerprint(8)).get().id == id(1))
  }

  @Test(arguments: ["'; DROP TABLE client; --", "\u{1b}[2J", "👩‍👩‍👧", "‮abc", "%", String(repeating: "n", count: 64)])
  func hostileNamesAreKeptAsGiven(name: String) async throws {
    try await registry.addClient(client(1, name: name))
    #expect(try await registry.clients().map(\.name) == [name])
    #expect(try await registry.revoke(matching: name, now: now).id == id(1))
  }

  // MARK: Revoking

  @Test func revokingByNameIDAndPrefix() async throws {
    for (byte, name) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] as [(UInt8, String)] {
      try await registry.addClient(client(byte, name: name))
    }
    #expect(try await registry.revoke(matching: "a", now: now).id == id(1))
    #expect(try await registry.revoke(matching: id(2).hex.uppercased(), now: now).id == id(2))
    #expect(try await registry.revoke(matching: "0303", now: now).id == id(3))
    #expect(try await verdict(1) == .failure(.revoked))
    #expect(try await verdict(2) == .failure(.revoked))
    #expect(try await verdict(3) == .failure(.revoked))
    #expect(try await verdict(4).get().id == id(4))
    #expect(try await registry.clients().map { $0.revoked } == [now, now, now, nil])
    await #expect(throws: PeerRegistryError.notFound("a")) { try await registry.revoke(matching: "a") }
    await #expect(throws: PeerRegistryError.notFound("040")) { try await registry.revoke(matching: "040") }
    await #expect(throws: PeerRegistryError.notFound("")) { try await registry.revoke(matching: "") }
  }

  @Test func anAmbiguousNameListsTheIDs() async throws {
    try await registry.addClient(client(1))
    try await registry.addClient(client(2))
    let ids = [try id(1), try id(2)]
    let error = await #expect(throws: PeerRegistryError.ambiguous("laptop", ids: ids)) {
      try await registry.revoke(matching: "laptop")
    }
    #expect(error?.description.contains(ids[0].hex) == true)
    #expect(error?.description.contains(ids[1].hex) == true)
    #expect(try await registry.clients().allSatisfy { $0.revoked == nil })
  }

  @Test func aWholeIDWinsOverANameThatCopiesIt() async throws {
    try await registry.addClient(client(1))
    try await registry.addClient(client(2, name: id(1).hex))
    try await registry.addClient(client(3, name: "01010101"))
    #expect(try await registry.revoke(matching: id(1).hex, now: now).id == id(1))
    #expect(try await registry.revoke(matching: "01010101", now: now).id == id(3))
  }

  @Test func revokeAll() async throws {
    for byte in [1, 2, 3] as [UInt8] { try await registry.addClient(client(byte)) }
    #expect(try await registry.revoke(id: id(1), now: now))
    #expect(try await !registry.revoke(id: id(1), now: now))
    #expect(try await registry.revokeAll(now: now + 5) == 2)
    #expect(try await registry.clients().map { $0.revoked } == [now, now + 5, now + 5])
  }

  @Test func errorsDoNotSteerTheTerminal() {
    let error = PeerRegistryError.notFound("\u{1b}[31m\u{202e}x\n")
    #expect(!error.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202e })
  }

  // MARK: Servers

  @Test func serverRoundTrip() async throws {
    var record = try server(1)
    try await registry.addServer(record)
    #expect(try await registry.servers() == [record])
    #expect(try await registry.server(id: id(1)) == record)
    #expect(try await registry.server(id: id(2)) == nil)
    record.name = "renamed"
    record.expires = now + 5
    record.dialect = "healthsync"
    try await registry.addServer(record)
    #expect(try await registry.servers() == [record])
  }

  @Test func serversAreFoundByNameOrPrefix() async throws {
    try await registry.addServer(server(1))
    try await registry.addServer(server(2))
    try await registry.addServer(server(3, name: "nas"))
    #expect(try await registry.server(matching: "nas").id == id(3))
    #expect(try await registry.server(matching: "0202").id == id(2))
    await #expect(throws: PeerRegistryError.ambiguous("studio", ids: [try id(1), try id(2)])) {
      try await registry.server(matching: "studio")
    }
    await #expect(throws: PeerRegistryError.notFound("x")) { try await registry.server(matching: "x") }
  }

  @Test func serversAreUpdatedAndRemoved() async throws {
    try await registry.addServer(server(1))
    try await registry.updateServer(id: id(1), host: "192.168.1.2", port: 65_535)
    try await registry.markServerUsed(id: id(1), expires: now + 9, now: now + 1)
    try await registry.markServerUsed(id: id(1), now: now + 2)
    let record = try #require(await registry.servers().first)
    #expect(record.host == "192.168.1.2")
    #expect(record.port == 65_535)
    #expect(record.lastUsed == now + 2)
    #expect(record.expires == now + 9)
    #expect(try await registry.removeServer(id: id(1)))
    #expect(try await !registry.removeServer(id: id(1)))
    await #expect(throws: PeerRegistryError.notFound(try id(1).hex)) {
      try await registry.updateServer(id: id(1), host: nil, port: nil)
    }
  }

  @Test func credentialsAreNotDescribed() throws {
    let record = try server(1)
    var dumped = ""
    dump(record, to: &dumped)
    #expect(!dumped.contains(record.credential.text))
    #expect(!"\(record)".contains(record.credential.text))
  }

  @Test("the zone of a client's days stays the first one, until its rights are given anew")
  func dailyZone() async throws {
    try await registry.addClient(try client(1))
    #expect(try await registry.dailyZone(ofClient: id(1), home: "Europe/Berlin") == "Europe/Berlin")
    #expect(try await registry.dailyZone(ofClient: id(1), home: "Asia/Tokyo") == "Europe/Berlin")
    try await registry.setOnlyDaily(true, ofClient: id(1))
    #expect(try await registry.dailyZone(ofClient: id(1), home: "Asia/Tokyo") == "Asia/Tokyo")
    await #expect(throws: PeerRegistryError.self) { try await registry.dailyZone(ofClient: id(2), home: "UTC") }
  }
}

@Suite struct PeerRegistryFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open() async throws -> PeerRegistry { try await PeerRegistry.open(in: directory.url) }

  private func addServer(_ byte: UInt8, to registry: PeerRegistry) async throws {
    try await registry.addServer(
      ServerRecord(
        id: #require(PeerID(bytes: [UInt8](repeating: byte, count: 16))), name: "s",
        fingerprint: #require(Fingerprint(bytes: [UInt8](repeating: byte, count: 32))),
        credential: BearerCredential(.random())))
  }

  @Test func filesArePrivate() async throws {
    let registry = try await open()
    try await addServer(1, to: registry)
    for name in ["peers.sqlite", "peers.sqlite-wal", "peers.sqlite-shm"] { #expect(try directory.mode(name) == 0o600) }
    #expect(try await registry.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
  }

  @Test func severalHoldersSeeEachOthersRows() async throws {
    let first = try await open()
    let second = try await open()
    try await addServer(1, to: first)
    try await addServer(2, to: second)
    #expect(try await first.servers().count == 2)
    #expect(try await second.servers().count == 2)
  }

  @Test func firstOpenersAtOnce() async throws {
    let url = directory.url
    try await withThrowingTaskGroup(of: Void.self) { group in
      for byte in 1...8 as ClosedRange<UInt8> {
        group.addTask { try await addServer(byte, to: PeerRegistry.open(in: url)) }
      }
      try await group.waitForAll()
    }
    #expect(try await open().servers().count == 8)
  }

  private static let earlierMigrations = [
    "1", "2", "persons", "certificates", "scopeEnd", "scopeSources", "onlyDaily", "serving", "restoration", "machines",
    "inbox",
  ]

  /// Creates a registry as the last development version wrote it, whose tables are the same.
  private func makeEarlier(_ migrations: [String]) async throws {
    let registry = try await open()
    try await addServer(1, to: registry)
    try await registry.write { db in
      try db.execute(sql: "DELETE FROM grdb_migrations; ALTER TABLE client DROP COLUMN dailyZone")
      for name in migrations { try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [name]) }
    }
    try registry.pool.close()
  }

  @Test func theLastDevelopmentVersionsFileIsTaken() async throws {
    try await makeEarlier(Self.earlierMigrations)
    #expect(try await PeerRegistry.inspect(in: directory.url)?.servers.count == 1)
    for _ in 0..<2 { #expect(try await open().servers().count == 1) }
    let applied = try await open().read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations") }
    #expect(applied == ["0.9.0", "dailyZone"])
  }

  @Test func anOlderOneIsRefusedAndLeftAlone() async throws {
    try await makeEarlier(Array(Self.earlierMigrations.dropLast()))
    let error = await #expect(throws: PeerRegistryError.self) { try await open() }
    #expect(error?.description.contains("too old") == true)
    await #expect(throws: PeerRegistryError.self) { try await PeerRegistry.inspect(in: directory.url) }
  }

  @Test("a registry with a foreign trigger is not opened, and its name is said")
  func foreignTrigger() async throws {
    let registry = try await open()
    try await registry.write { db in
      try db.execute(sql: "CREATE TRIGGER planted AFTER INSERT ON client BEGIN DELETE FROM server; END")
    }
    try registry.pool.close()
    let error = await #expect(throws: PeerRegistryError.self) { try await open() }
    #expect(error?.description.contains("planted") == true)
    await #expect(throws: PeerRegistryError.self) { try await PeerRegistry.inspect(in: directory.url) }
  }

  @Test func aNewerSchemaIsRefusedAndLeftAlone() async throws {
    let path = directory.path("peers.sqlite")
    do {
      let registry = try await open()
      try await registry.write { db in
        try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999'); CREATE TABLE future (x)")
      }
      try registry.pool.close()
    }
    func contents() -> [Data] { [path, "\(path)-wal"].map { FileManager.default.contents(atPath: $0) ?? Data() } }
    let before = contents()
    await #expect(throws: PeerRegistryError.newerSchema(path: path)) { try await open() }
    #expect(contents() == before)
  }

  @Test func aFileThatIsNoDatabaseIsRefusedAndLeftAlone() async throws {
    let garbage = Data(String(repeating: "not a database ", count: 500).utf8)
    try garbage.write(to: directory.url.appending(path: "peers.sqlite"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory.path("peers.sqlite"))
    let error = await #expect(throws: PeerRegistryError.self) { try await open() }
    guard case .damaged(directory.path("peers.sqlite"), _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(FileManager.default.contents(atPath: directory.path("peers.sqlite")) == garbage)
  }

  @Test func tokensOfClientsAreNotInTheFile() async throws {
    let registry = try await open()
    let token = BearerToken.random()
    try await registry.addClient(
      PairedClient(
        id: #require(PeerID(bytes: [UInt8](repeating: 1, count: 16))), name: "n", tokenHash: token.hash,
        certificateFingerprint: nil, method: .spake2, pairedAt: Date(), expiresAt: Date() + 60))
    for name in ["peers.sqlite", "peers.sqlite-wal"] {
      let contents = try #require(FileManager.default.contents(atPath: directory.path(name)))
      #expect(contents.range(of: Data(token.bytes)) == nil)
      #expect(contents.range(of: Data(token.text.utf8)) == nil)
    }
  }
}
