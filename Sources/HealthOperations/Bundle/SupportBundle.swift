import BackupArchive
import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// An archive with diagnostics for a person who helps, without private data: no samples, no types, no names of
/// people, devices, machines or files, no addresses, no fingerprints, no secrets. Each file is composed of permitted
/// facts, instead of being redacted.
///
/// ```swift
/// func bundle(_ home: Home) async throws {
///   let bundle = SupportBundle(home, version: "1.0", findings: [.init(id: "disk.full", severity: "blocking")])
///   try await bundle.write(to: "/tmp/hpeer.tar.gz")
/// }
/// ```
public struct SupportBundle: Sendable {
  /// A finding without its text, which may quote private data.
  public struct Finding: Hashable, Sendable, Encodable {
    public var id: String
    public var severity: String

    public init(id: String, severity: String) { (self.id, self.severity) = (id, severity) }
  }

  private let home: Home
  private let version: String
  private let findings: [Finding]

  /// Creates a bundle that is not written yet.
  ///
  /// - Parameters:
  ///   - version: the version of this program.
  ///   - findings: the findings of `hpeer doctor`.
  public init(_ home: Home, version: String, findings: [Finding]) {
    (self.home, self.version, self.findings) = (home, version, findings)
  }

  /// Writes a tar file with mode 0600, compressed with gzip if its name ends in `.gz`, otherwise with Zstandard.
  /// Never replaces a file. Throws ``ExportError``.
  public func write(to path: String) async throws {
    let files = try await files()
    try await onThread { _ in
      let sink = CompressedSink(
        try OutputFile(path: path, replaces: false), FileCompression(suffixOf: path) ?? .zstandard)
      do {
        try sink.write(TarFile.bytes(files, modified: Int64(Date().timeIntervalSince1970)))
        try sink.finish()
      } catch {
        sink.discard()
        throw error
      }
    }
  }

  private struct Program: Encodable {
    var version: String
    var made: String
    var isRunning: Bool
    var residentBytes: Int?
    var descriptors: Int?
  }

  private struct Peers: Encodable {
    var state: String
    var clients = 0
    var revokedClients = 0
    var expiredClients = 0
    /// The number of servers by protocol.
    var servers: [String: Int] = [:]
  }

  private struct Store: Encodable {
    var state: String
    var shape: StoreShape?
  }

  /// Returns the files with their names, in their order in the archive.
  func files() async throws -> [(name: String, content: [UInt8])] {
    let usage = ProcessUsage.current()
    let program = Program(
      version: version, made: Timestamp.now.iso8601,
      isRunning: await onThread { [home] _ in ServeLock.holder(of: home) != nil },
      residentBytes: usage?.residentBytes, descriptors: usage?.descriptors)
    let machine = await BundledMachine.look(at: home)
    let settings = await onThread { [home] _ in BundledSettings(home) }
    let store = await onThread { [home] _ in Self.store(home) }
    let folder = "hpeer-bundle/"
    return [
      (folder + "README.txt", Array(Self.readme.utf8)),
      (folder + "program.json", try Self.json(program)),
      (folder + "machine.json", try Self.json(machine)),
      (folder + "findings.json", try Self.json(findings)),
      (folder + "settings.json", try Self.json(settings)),
      (folder + "store.json", try Self.json(store)),
      (folder + "peers.json", try Self.json(await peers())),
    ]
  }

  private static func store(_ home: Home) -> Store {
    do throws(StoreError) {
      return Store(state: "read", shape: try HealthStore.shape(directory: home.directory))
    } catch {
      return Store(state: Self.word(error))
    }
  }

  /// Returns the kind of an error, because its message names files.
  private static func word(_ error: StoreError) -> String {
    switch error {
    case .missing: "missing"
    case .newerSchema: "newer"
    case .corrupt: "damaged"
    case .locked: "locked"
    case .notPermitted, .openToOthers, .link, .unusableDirectory: "not permitted"
    case .diskFull, .lowSpace: "no room"
    case .anchorOutOfRange, .ownerChanged, .consumerChanged, .gone, .beingReplaced, .inUse, .cancelled, .other:
      "not read"
    }
  }

  private func peers() async -> Peers {
    do throws(PeerRegistryError) {
      guard let found = try await PeerRegistry.inspect(in: home.url) else { return Peers(state: "missing") }
      var peers = Peers(state: "read")
      peers.clients = found.clients.count
      peers.revokedClients = found.clients.count { $0.revoked != nil }
      peers.expiredClients = found.clients.count { $0.expires <= Date() }
      let known = ["hpeer", "HealthAppTransfer", "HealthSync"]
      for server in found.servers {
        peers.servers[known.contains(server.dialect) ? server.dialect : "other", default: 0] += 1
      }
      return peers
    } catch {
      return Peers(state: "not read")
    }
  }

  private static func json(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
  }

  private static let readme = """
    What hpeer knows of itself and of this machine, for someone who is to help. Look through it before you send it: these
    are all of its files, and each is plain text.

    program.json   version, when this was made, whether hpeer runs
    machine.json   kernel, distribution, versions of packages, memory, disk, limits, sizes of hpeer's files
    findings.json  what `hpeer doctor` found: which checks, not what they say
    settings.json  which settings config.toml has, without texts, numbers and lists that are yours
    store.json     the tables and how many rows each has, and which events happened when; not what they were about
    peers.json     how many machines are paired

    Not in it: samples, types, dates of samples, names of people, devices, sources, machines, destinations and files,
    addresses, fingerprints, tokens, keys and other secrets.

    """
}
