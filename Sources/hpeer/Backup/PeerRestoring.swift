import BackupArchive
import Foundation
import HealthOperations
import OperatingSystem
import PeerClient
import PeerTrust
import Terminal

/// A restore without a backup: a home is filled with what other machines hold of the lost one's record.
struct PeerRestoring {
  let home: Home
  /// The names of machines, in addition to `hosts`. If both are empty, all paired machines are asked.
  let names: [String]
  /// The addresses of machines: `HOST[:PORT]`.
  let hosts: [String]
  /// Whether codes come on standard input.
  let readsCode: Bool
  let json: Bool

  private struct Report: Encodable {
    struct Peer: Encodable {
      var name: String
      var id: String
      var added: Int
      /// The number of deletions that were not known here, including those of samples that were never here.
      var deleted: Int
    }
    var peers: [Peer]
    var samples: Int
    var deleted: Int
    var digest: String
  }

  func run() async throws {
    ProcessMemory.returnLargeBlocks()
    let (registry, identity) = (try await home.openRegistry(), try await home.identity())
    let store = try await onThread { _ in try home.createStore() }
    let local = LocalPeer(store: store, registry: registry, identity: identity)
    let finder = PeerFinder(registry: registry, ownID: identity.id) { PlainText.escaped($0) }
    let pull = PullOperation(
      local, finder: finder, persons: PersonCheck(registry), isFull: true, progress: ProgressBars(),
      confirm: PeerPrompts.confirmation, notice: PeerPrompts.tell)
    var report = Report(peers: [], samples: 0, deleted: 0, digest: "")
    var record = BackupManifest.Record(try await store.digests.current().record)
    for (server, endpoints) in try await servers(local, finder) {
      let result = try await interruptible { try await pull.run(from: server, at: endpoints) }
      let before = record.deleted
      record = BackupManifest.Record(try await store.digests.current().record)
      let (added, deleted) = (result.done.added, max(0, record.deleted - before))
      report.peers.append(.init(name: server.name, id: server.id.hex, added: added, deleted: deleted))
      if !json {
        let name = PlainText.escaped(server.name)
        try Console.print(
          "\(name) gave back \(HumanFormat.count(added, "sample")) and \(HumanFormat.count(deleted, "deletion")).")
      }
    }
    (report.samples, report.deleted, report.digest) = (record.samples, record.deleted, record.digest)
    if json { return try Console.print(json: report) }
    Console.say(
      "This machine holds \(HumanFormat.count(record.samples, "sample")): `hpeer verify NAME` compares with each of them."
    )
  }

  /// Returns the machines to ask. Pairs with those that are not paired yet.
  private func servers(_ local: LocalPeer, _ finder: PeerFinder) async throws -> [(ServerRecord, [PeerEndpoint])] {
    var targets: [PeerTarget] = []
    for host in hosts { targets.append(try await finder.target(at: try PeerEndpoint(hostOption: host))) }
    for name in names { targets.append(try await finder.target(named: name)) }
    if targets.isEmpty {
      let servers = try await local.registry.servers()
      guard !servers.isEmpty else {
        throw CommandFailure(
          .usage,
          "This machine is not paired with any other: name the machines that hold the record, and run `hpeer serve` there."
        )
      }
      return servers.map { ($0, PeerFinder.hint(of: $0)) }
    }
    var servers: [(ServerRecord, [PeerEndpoint])] = []
    for target in targets {
      switch target {
      case .paired(let server, let endpoints): servers.append((server, endpoints))
      case .unpaired(let name, let endpoints):
        Console.say("Found \(PlainText.escaped(name)), not paired yet.")
        let dialogue = PairingDialogue(
          home, registry: local.registry, identity: local.identity, finder: finder)
        let server = try await dialogue.pair(with: endpoints, code: readsCode ? .standardInput : .prompt)
        servers.append((server, endpoints))
      }
    }
    return servers
  }
}
