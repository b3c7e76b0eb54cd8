import AgeEncryption
import BackupArchive
import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerProtocol
import PeerTrust
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations

@Suite struct BackupTests {
  private let key = AgeKey.generate()

  private func recipients() throws -> [AgeRecipient] { [try AgeRecipient(try #require(key.recipient))] }

  /// Makes a backup and returns its path.
  private func backUp(
    _ home: TestHome, unencrypted: Bool = false, progress: any ProgressObserver = NoProgress(), name: String = "backup"
  ) async throws -> String {
    let path = home.directory.path(name)
    let operation = BackupOperation(
      home.home, for: unencrypted ? [] : try recipients(), program: "1.2.3", progress: progress)
    let summary = try await operation.run(to: .file(path: path, replaces: false))
    #expect(try home.directory.mode(name) == 0o600)
    #expect(!PrivateFile.exists(home.home.directory + "/.backup"))
    #expect(try Data(contentsOf: URL(filePath: path)).count == summary.bytes)
    return path
  }

  /// Returns an empty home in its own folder.
  private func emptyHome() throws -> (folder: TemporaryDirectory, home: Home) {
    let folder = try TemporaryDirectory(inMemory: true)
    return (folder, Home(path: folder.path("home"), environment: [:]))
  }

  @discardableResult
  private func restore(
    _ path: String, into home: Home, keepsIdentity: Bool = true, replaces: Bool = false, keys: [AgeKey]? = nil
  ) async throws -> RestorationResult {
    try PrivateFile.makeDirectory(home.directory)
    let lock = try ServeLock(home)
    defer { lock.release() }
    return try await BackupRestoration(
      path, keys: keys ?? [key], into: home, keepsIdentity: keepsIdentity, replaces: replaces
    ).run(holding: lock)
  }

  private func digest(_ home: Home) async throws -> RecordDigest {
    try await home.openStore().digests.current().record
  }

  /// Adds a registry and settings like those of a machine in use.
  private func settle(_ home: TestHome) async throws -> (
    identity: PeerIdentity, server: ServerRecord, client: PairedClient
  ) {
    let identity = try await home.home.identity()
    let registry = try await home.home.openRegistry()
    let server = try ServerRecord(
      id: #require(PeerID(hex: String(repeating: "ab", count: 16))), name: "studio",
      fingerprint: #require(Fingerprint(hex: String(repeating: "cd", count: 32))),
      credential: #require(BearerCredential(text: "secret-token-of-studio")))
    try await registry.addServer(server)
    let client = try PairedClient(
      id: #require(PeerID(hex: String(repeating: "12", count: 16))), name: "laptop",
      tokenHash: #require(TokenHash(bytes: [UInt8](repeating: 5, count: 32))), method: .spake2, pairedAt: Date(),
      expiresAt: Date() + 86_400)
    try await registry.addClient(client)
    let secret = try home.home.keepSecret("password-of-somewhere", of: "somewhere", "password")
    try home.home.editSettings { $0 + "# \(secret)\n" }
    return (identity, server, client)
  }

  @Test("everything comes back in another home, whose record is the same")
  func everything() async throws {
    let home = try TestHome()
    try await home.fill(30)
    let (identity, server, _) = try await settle(home)
    let path = try await backUp(home)
    let bytes = try Data(contentsOf: URL(filePath: path))
    for secret in ["secret-token", "password-of", "PRIVATE KEY", "HKQuantity", "attic"] {
      #expect(bytes.firstRange(of: Data(secret.utf8)) == nil)
    }
    let (folder, other) = try emptyHome()
    let result = try await restore(path, into: other)
    #expect(result.keepsIdentity && result.keptIn == [] && result.manifest.record.samples == 30)
    #expect(try await digest(other) == digest(home.home))
    #expect(try await other.identity() == identity)
    #expect(try await other.openRegistry().servers().map(\.credential) == [server.credential])
    let settings = try String(contentsOfFile: other.settingsPath, encoding: .utf8)
    #expect(settings == "# file:\(other.configuration)/secrets/somewhere.password\n")
    #expect(
      try String(contentsOfFile: other.secretPath("somewhere", "password"), encoding: .utf8)
        == "password-of-somewhere\n")
    let events = try await other.openStore().audit.log().records.map(\.event)
    #expect(events.suffix(2) == ["backup", "backup.restored"])
    #expect(try await home.auditedNames().last == "backup")
    for name in try FileManager.default.subpathsOfDirectory(atPath: other.directory) {
      let isFolder = FileStatus(other.directory + "/" + name)?.isDirectory == true
      #expect(try folder.mode("home/" + name) == (isFolder ? 0o700 : 0o600), "\(name)")
    }
    #expect(!PrivateFile.exists(other.directory + "/.restoring"))
  }

  @Test("destinations that were given more than the backup has are given the record anew")
  func destinations() async throws {
    let home = try TestHome()
    let out = home.directory.path("out")
    try PrivateSettings.write(
      """
      [destination.keep]
      kind = "command"
      command = ["/bin/sh", "-c", "echo over $HPEER_STARTS_OVER >> '\(out)'; cat >> '\(out)'"]

      """, home.home.settingsPath)
    func deliver(_ home: Home, _ store: HealthStore) async throws -> Int {
      let section = try #require(try home.settings().destination("keep"))
      return try await DeliverOperation(section, home: home, store: store).run().delivered
    }
    try await home.fill(3)
    #expect(try await deliver(home.home, home.store) == 3)
    let path = try await backUp(home)
    try await home.fill(5)
    #expect(try await deliver(home.home, home.store) == 2)
    let (folder, other) = try emptyHome()
    defer { withExtendedLifetime(folder) {} }
    #expect(try await restore(path, into: other).redelivered == ["keep"])
    let store = try other.openStore()
    #expect(RedeliveryRequests.behind("command:keep", among: try await store.consumers()) == 3)
    try FileManager.default.removeItem(atPath: out)
    #expect(try await deliver(other, store) == 3)
    let given = try String(contentsOfFile: out, encoding: .utf8)
    #expect(given.hasPrefix("over 1\n"), "\(given)")
  }

  @Test("it is of one moment, whatever happens while it is made")
  func inUse() async throws {
    let home = try TestHome()
    try await home.fill(5)
    // Written in the middle: after the copies were made, before they are read.
    let path = try await backUp(home, progress: Meanwhile { try? home.store.applyBlocking(25) })
    #expect(try await digest(home.home).samples.count == 30)
    let manifest = try await BackupVerification(path, keys: [key]).run(in: home.directory.path)
    #expect(manifest.record.samples == 5)
    #expect(try home.names().allSatisfy { !$0.contains(".hpeer-verify") })
  }

  @Test("the record alone has neither the identity nor a token, a secret or a key of positions")
  func unencrypted() async throws {
    let home = try TestHome()
    try await home.fill(5)
    _ = try await settle(home)
    let path = try await backUp(home, unencrypted: true)
    let unpacked = home.directory.path("unpacked")
    try FileManager.default.createDirectory(atPath: unpacked, withIntermediateDirectories: false)
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/bash")
    shell.arguments = ["-euc", "zstd -q -d -c '\(path)' | tar -x -C '\(unpacked)'"]
    try shell.run()
    shell.waitUntilExit()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: unpacked).sorted() == ["manifest.json", "store.sqlite"])
    let everything =
      try Data(contentsOf: URL(filePath: unpacked + "/store.sqlite"))
      + Data(contentsOf: URL(filePath: unpacked + "/manifest.json"))
    let own = [home.home.directory, Hostname.short + "\""].map { Data($0.utf8) }
    for secret in [home.store.positionKey] + own + [Data("secret-token".utf8), Data("PRIVATE KEY".utf8)] {
      #expect(everything.firstRange(of: secret) == nil)
    }
    let (folder, other) = try emptyHome()
    let result = try await restore(path, into: other, keys: [])
    #expect(!result.keepsIdentity && result.restoration == nil)
    #expect(try await digest(other) == digest(home.home))
    let restored = try other.openStore()
    #expect(restored.positionKey != home.store.positionKey)
    withExtendedLifetime(folder) {}
  }

  @Test("what is here is refused, and with leave kept beside")
  func occupied() async throws {
    let home = try TestHome()
    try await home.fill(5)
    let path = try await backUp(home)
    let (folder, other) = try emptyHome()
    try await restore(backUp(home, name: "smaller"), into: other)
    _ = try await other.openStore().samples.delete(
      AppleExportText.heartRate, in: AppleExportText.start..<Timestamp(microseconds: .max))
    let before = try await digest(other)
    await #expect(throws: RestorationRefusal.occupied(path: other.directory + "/store.sqlite")) {
      try await restore(path, into: other)
    }
    #expect(try await digest(other) == before)
    // Whoever has it open is in the way.
    try await withStore(of: other) {
      let error = await #expect(throws: StoreError.self) { try await restore(path, into: other, replaces: true) }
      guard case .inUse(other.directory, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    #expect(try await digest(other) == before)
    let result = try await restore(path, into: other, replaces: true)
    #expect(try await digest(other) == digest(home.home))
    let kept = try #require(result.keptIn.first)
    let former = try HealthStore(directory: kept, create: false)
    #expect(try await former.digests.current().record == before)
    withExtendedLifetime(folder) {}
  }

  /// Runs `body` while the store is open.
  private func withStore(of home: Home, _ body: () async throws -> Void) async throws {
    let store = try home.openStore()
    try await body()
    withExtendedLifetime(store) {}
  }

  @Test("a backup that was changed, or another key, changes nothing here")
  func damaged() async throws {
    let home = try TestHome()
    try await home.fill(5)
    let path = try await backUp(home)
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(filePath: path + ".damaged"))
    let (folder, other) = try emptyHome()
    await #expect(throws: AgeError.self) { try await restore(path + ".damaged", into: other) }
    await #expect(throws: AgeError.noMatchingKey) { try await restore(path, into: other, keys: [.generate()]) }
    await #expect(throws: AgeError.self) {
      try await BackupVerification(path + ".damaged", keys: [key]).run(in: folder.path)
    }
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: other.directory)) == ["replace.lock", "serve.lock"])
    // Sound as a backup, and no record that it says.
    let file = home.directory.path("no-record")
    try Data("no database".utf8).write(to: URL(filePath: file))
    let writer = BackupWriter([.init(name: "store.sqlite", path: file)], for: [])
    let manifest = BackupManifest(
      created: Date(), program: "1", contents: .record, record: .init(RecordDigest()), files: try writer.files())
    var text: [UInt8] = []
    try writer.run(manifest) { text += $0 }
    try Data(text).write(to: URL(filePath: file + ".zst"))
    await #expect(throws: (any Error).self) { try await restore(file + ".zst", into: other, keys: []) }
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: other.directory)) == ["replace.lock", "serve.lock"])
  }

  @Test("the machine that goes on keeps its identity, and the other has one of its own")
  func newIdentity() async throws {
    let home = try TestHome()
    try await home.fill(5)
    let (identity, _, _) = try await settle(home)
    let (folder, other) = try emptyHome()
    let result = try await restore(try await backUp(home), into: other, keepsIdentity: false)
    #expect(!result.keepsIdentity && result.restoration == nil)
    #expect(try await other.identity() != identity)
    #expect(try await other.openRegistry().servers().isEmpty)
    #expect(!PrivateFile.exists(other.settingsPath))
    #expect(try await digest(other) == digest(home.home))
    withExtendedLifetime(folder) {}
  }

  @Test("a position of the record before the restore is refused once its number means something else")
  func epochs() async throws {
    let home = try TestHome()
    try await home.fill(5)
    let path = try await backUp(home)
    // Goes on after the backup, and is lost.
    try await home.fill(20)
    let lost = try await home.store.feed.currentPosition()
    let (folder, other) = try emptyHome()
    try await restore(path, into: other)
    let restored = try other.openStore()
    await #expect(throws: StoreError.anchorOutOfRange) {
      _ = try await restored.feed.changes(since: lost.anchor, epoch: lost.epoch, limit: 10)
    }
    var maker = SampleMaker(seed: 1)
    _ = try await restored.apply(ChangeBatch(additions: (0..<30).map { maker.steps(at: $0) }))
    let now = try await restored.feed.currentPosition()
    #expect(now.anchor >= lost.anchor && now.epoch != lost.epoch)
    await #expect(throws: StoreError.anchorOutOfRange) {
      _ = try await restored.feed.changes(since: lost.anchor, epoch: lost.epoch, limit: 10)
    }
    withExtendedLifetime(folder) {}
  }

  @Test("clients wait until all who may know of deletions were asked, or their owner says otherwise")
  func waiting() async throws {
    let home = try TestHome()
    try await home.fill(5)
    let (_, server, client) = try await settle(home)
    let path = try await backUp(home)
    let (folder, other) = try emptyHome()
    let result = try await restore(path, into: other)
    #expect(result.restoration?.servers.map(\.id) == [server.id])
    #expect(result.restoration?.clients.map(\.id) == [client.id])
    do {
      let registry = try await other.openRegistry()
      let lock = ServingLock(registry, auditedIn: try other.openStore())
      #expect(try await registry.lockedSince() != nil)
      #expect(try await !registry.notePulled(from: server.id))
      #expect(try await lock.restoration()?.servers == [])
      // The client is nobody any more, so that nobody is left.
      _ = try await registry.revoke(id: client.id)
      #expect(try await lock.restoration() == nil)
      #expect(try await registry.lockedSince() == nil)
    }

    // Its owner says so.
    try await restore(path, into: other, replaces: true)
    let again = try await other.openRegistry()
    let second = ServingLock(again, auditedIn: try other.openStore())
    #expect(try await second.unlock())
    #expect(try await again.lockedSince() == nil)
    #expect(try await second.restoration() == nil)

    // Locked meanwhile, it stays so.
    _ = try await again.beginRestoration(made: Date())
    #expect(try await !second.lock())
    try await second.endRestoration()
    #expect(try await again.lockedSince() != nil)
    withExtendedLifetime(folder) {}
  }

  /// Returns the path of a forged backup with valid checksums, as an attacker would write it.
  private func forged(
    _ home: TestHome, _ contents: BackupManifest.Contents, file name: String, for recipients: [AgeRecipient] = []
  ) async throws -> String {
    let own = try await backUp(home, unencrypted: true, name: "own")
    let reader = try BackupReader(path: own)
    let record = try reader.manifest().record
    let planted = home.directory.path("planted")
    try Data("[[automation]]\nname = \"x\"\n".utf8).write(to: URL(filePath: planted))
    let writer = BackupWriter(
      [
        .init(name: name, path: planted),
        .init(name: HealthStore.fileName, path: "\(home.home.directory)/\(HealthStore.fileName)"),
      ], for: recipients)
    let manifest = BackupManifest(
      created: Date(timeIntervalSince1970: 1_780_000_000), program: "1", contents: contents, record: record,
      files: try writer.files())
    let path = home.directory.path("forged")
    var bytes = Data()
    try writer.run(manifest) { bytes += $0 }
    try bytes.write(to: URL(filePath: path))
    return path
  }

  @Test(
    "a backup that is not encrypted brings the record and nothing else, whatever it says of itself",
    arguments: [BackupManifest.Contents.record, .everything],
    ["config.toml", "peers.sqlite", "identity/key.pem", "secrets/a", "destinations/x"])
  func forgeries(contents: BackupManifest.Contents, name: String) async throws {
    let home = try TestHome()
    try await home.fill(3)
    let path = try await forged(home, contents, file: name)
    let (folder, other) = try emptyHome()
    await #expect(throws: BackupError.unexpected(file: name)) { try await restore(path, into: other, keys: []) }
    await #expect(throws: BackupError.unexpected(file: name)) {
      try await BackupVerification(path, keys: []).run(in: folder.path)
    }
    for place in ["config.toml", "peers.sqlite", "identity", "secrets", "destinations", HealthStore.fileName] {
      #expect(!PrivateFile.exists("\(other.directory)/\(place)"))
    }
  }

  @Test("what a backup brings that can do or read something is named, and without a yes nothing is restored")
  func powers() async throws {
    let home = try TestHome()
    try await home.fill(3)
    _ = try await settle(home)
    try home.home.editSettings { text in
      text + """
        [automation.nightly]
        when = "time"
        at = ["03:00"]
        do = "command"
        command = ["/bin/true", "x"]
        [destination.files]
        kind = "folder"
        path = "/tmp/files"
        """
    }
    let path = try await backUp(home)
    let (_, other) = try emptyHome()
    let asked = Mutex<RestoredPermissions?>(nil)
    try PrivateFile.makeDirectory(other.directory)
    let lock = try ServeLock(other)
    defer { lock.release() }
    let restoration = BackupRestoration(path, keys: [key], into: other) { powers in
      asked.withLock { $0 = powers }
      return false
    }
    await #expect(throws: RestorationRefusal.declined) { try await restoration.run(holding: lock) }
    let told = asked.withLock { $0 }
    let powers = try #require(told)
    #expect(powers.programs == ["nightly: /bin/true x"])
    #expect(powers.destinations == ["files (folder /tmp/files)"])
    #expect(powers.clients == ["laptop"] && powers.servers == ["studio"] && powers.senders.isEmpty)
    #expect(!PrivateFile.exists("\(other.directory)/\(HealthStore.fileName)"))
    // The record alone brings none.
    let alone = BackupRestoration(path, keys: [key], into: other, keepsIdentity: false) { _ in false }
    #expect(try await alone.run(holding: lock).manifest.record.samples == 3)
  }

  @Test("after a restore of the record alone, positions that its readers could forge mean nothing")
  func renewedKey() async throws {
    let home = try TestHome()
    try await home.fill(3)
    let path = try await backUp(home, unencrypted: true)
    let (_, other) = try emptyHome()
    try await restore(path, into: other, keys: [])
    let folder = try TemporaryDirectory(inMemory: true)
    let unpacked = folder.path("unpacked")
    _ = try UnpackedBackup(
      path, keys: [], into: unpacked, layout: BackupLayout(home: home.home), progress: NoProgress(),
      isCancelled: { false })
    let known = try HealthStore(readOnlyIn: unpacked).positionKey
    #expect(try other.openStore().positionKey != known)
  }
}

/// A progress observer that does something as soon as a stage begins.
private struct Meanwhile: ProgressObserver {
  let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) { self.work = work }

  func begin(_ stage: ProgressStage) -> any StageObserver {
    if stage.work == .backingUp { work() }
    return NoProgress().begin(stage)
  }
}

extension HealthStore {
  /// Adds a number of samples.
  fileprivate func applyBlocking(_ count: Int) throws {
    let done = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    var maker = SampleMaker(seed: UInt64(count))
    let batch = ChangeBatch(additions: (0..<count).map { maker.steps(at: $0) })
    Task.detached {
      do { _ = try await self.apply(batch) } catch { failure.withLock { $0 = error } }
      done.signal()
    }
    done.wait()
    if let error = failure.withLock(\.self) { throw error }
  }
}
