import Foundation
import TestSupport
import Testing

@testable import HealthModel
@testable import HealthStore

/// Random histories of three machines that import exports of a key with several records, delete, import files without
/// statements, and pull in parts. In the end all must hold what the newest export says about the key, except for
/// deleted records.
///
/// `HPEER_KEY_HISTORIES` is the number of histories, `HPEER_HISTORY_SEED` the first seed.
@Suite struct KeyHistoryTests {
  private static func number(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
  }

  private static let asked = number("HPEER_KEY_HISTORIES")
  private static let first = number("HPEER_HISTORY_SEED") ?? 0

  /// The time limit depends on the requested number of histories. 160 take seconds.
  @Test(.timeLimit(.minutes(asked == nil ? 10 : 24 * 60)), arguments: 0..<8)
  func allHoldTheNewest(block: Int) async throws {
    for seed in stride(from: Self.first + block, to: Self.first + (Self.asked ?? 160), by: 8) {
      let history = KeyHistory(seed: UInt64(seed))
      do {
        try await history.run()
      } catch {
        Issue.record("seed \(seed): \(error)\n\(history.log.joined(separator: "\n"))")
      }
    }
  }
}

/// An export's statement about the key.
private struct Statement {
  var values: [Double]
  var date: Int64

  var group: TwinGroup {
    TwinGroup(key: ExportedSample().key, samples: values.map { ExportedSample(value: $0).sample() })
  }

  var file: ImportRecord.File { .init(name: "export.zip", exported: Timestamp(seconds: 1_710_000_000 + date)) }

  var said: [KeyStatement] {
    KeyStatement.all(of: group.samples, key: group.key.uuid(ordinal: 0), said: file.exported ?? .now)
  }
}

private final class KeyHistory {
  struct Failure: Error { var text: String }

  private let seed: UInt64
  private var random: SeededGenerator
  private(set) var log: [String] = []
  private var heard: [Statement] = []
  /// The UUIDs in the tombstones of deleted samples.
  private var gone: Set<UUID> = []
  /// Whether a sample was deleted from several with equal values, on a machine that didn't know which of them it was.
  private var isUncertain = false

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  private struct Machine {
    let directory: TemporaryDirectory
    let store: HealthStore
    var anchors: [Int: Anchor] = [:]

    /// - Parameter files: The files of an empty store, by name.
    init(_ files: [String: Data]) throws {
      directory = try TemporaryDirectory(inMemory: true)
      for (name, bytes) in files {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: directory.path(name), contents: bytes, attributes: attributes)
        else { throw Failure(text: "no store") }
      }
      store = try HealthStore(directory: directory.path, create: false)
    }
  }

  /// The files of three empty stores, which are created once.
  private static let empty = Result {
    try (0..<3).map { _ in
      let directory = try TemporaryDirectory(inMemory: true)
      let store = try HealthStore(directory: directory.path)
      return try withExtendedLifetime(store) {
        var files: [String: Data] = [:]
        for name in ["store.sqlite", "store.sqlite-wal"] {
          files[name] = try Data(contentsOf: directory.url.appending(path: name))
        }
        return files
      }
    }
  }

  func run() async throws {
    var machines = try Self.empty.get().map { try Machine($0) }
    let statements = (0..<Int.random(in: 1...6, using: &random)).map { number in
      Statement(
        values: (0..<random.pick([1, 2, 2, 3])).map { _ in random.pick([77.0, 250, 410]) }.sorted(),
        date: random.oneIn(3) ? 1 : Int64(number + 1) * 10)
    }
    let hearers = random.pick([[0, 1, 2], [0, 2]])
    let ways = random.pick([
      [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)], [(0, 1), (1, 0), (1, 2), (2, 1)],
    ])
    for _ in 0..<Int.random(in: 3...20, using: &random) {
      let index = random.pick(hearers)
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9: try hear(random.pick(statements), index, machines[index])
      case 9: try await delete(index, machines[index])
      case 10:
        let (into, from) = random.pick(ways)
        try await copy(machines[from], into: machines[into])
        log.append("\(into) imports a file of \(from)")
      default:
        let (into, from) = random.pick(ways)
        log.append("\(into) pulls from \(from)")
        _ = try await pull(into, from, &machines)
      }
      // Each step of a few: to check a store takes longer than all else.
      if seed % 20 == 0 { try await requireSound(machines[index]) }
    }
    try await exchange(ways, &machines)
    try await requireAgreement(machines)
    guard let newest = heard.max(by: { $0.said[0].stamp < $1.said[0].stamp }) else { return }
    let expected = zip(newest.values, newest.said).filter { !gone.contains($1.content) }.map(\.0)
    // Of a key that never had several records, the first is kept.
    if heard.contains(where: { $0.values.count > 1 }), newest.values.count > 1, !isUncertain {
      let shown = try await machines[0].store.values()
      try require(shown == expected, "\(shown) is shown, \(newest.values) was said, \(gone.count) deleted")
    }
    let last = Statement(values: [5, 5, 600], date: 1_000)
    try hear(last, 0, machines[0])
    try await exchange(ways, &machines)
    try await requireAgreement(machines)
    let shown = try await machines[0].store.values()
    try require(shown == last.values, "does not heal: \(shown)")
    let anchor = try await machines[0].store.feed.currentAnchor()
    try hear(Statement(values: last.values, date: 1_001), 0, machines[0])
    try require(try await machines[0].store.feed.currentAnchor() == anchor, "what is held is written")
    for machine in machines { try await requireSound(machine) }
  }

  private func require(_ condition: Bool, _ text: String) throws {
    if !condition { throw Failure(text: text) }
  }

  private func hear(_ statement: Statement, _ index: Int, _ machine: Machine) throws {
    log.append("\(index) hears \(statement.values) of \(statement.date)")
    try machine.store.importExport([], twins: [statement.group], file: statement.file)
    heard.append(statement)
  }

  private func delete(_ index: Int, _ machine: Machine) async throws {
    let page = try await machine.store.feed.codedChanges(since: .zero, limit: 100).changes
    guard let coded = page.samples.randomElement(using: &random) else { return }
    let sample = try page.sample(coded)
    var tombstone = Tombstone(of: sample, deleted: .now)
    var content = KeyStatement.content(
      sample.canonicalValue, rank: 0, of: ExportedSample().key.uuid(ordinal: 0))
    if let statement = coded.statement.map({ page.statements[Int($0)] }) {
      tombstone.sample.uuid = statement.content
      tombstone.statement = statement
      content = statement.content
    }
    if coded.statement == nil, heard.contains(where: { Set($0.values).count < $0.values.count }) { isUncertain = true }
    log.append("\(index) deletes \(sample.canonicalValue)")
    gone.insert(content)
    try await machine.store.apply(ChangeBatch(deletions: [tombstone]))
  }

  /// Exports a machine's samples to a file and imports the file on another machine.
  private func copy(_ from: Machine, into: Machine) async throws {
    let page = try await from.store.feed.codedChanges(since: .zero, limit: 100).changes
    var coder = ChangeCoder()
    for sample in page.samples { try coder.add(try page.sample(sample)) }
    let writer = try ImportWriter(into.store, named: "copy.json")
    try writer.write(coder.changes)
  }

  private func pull(_ into: Int, _ from: Int, _ machines: inout [Machine]) async throws -> Bool {
    let page = try await machines[from].store.feed.codedChanges(
      since: machines[into].anchors[from] ?? .zero, limit: Int.random(in: 1...3, using: &random))
    machines[into].anchors[from] = page.anchor
    if page.changes.isEmpty { return false }
    try await machines[into].store.apply([page.changes])
    return true
  }

  private func exchange(_ ways: [(Int, Int)], _ machines: inout [Machine]) async throws {
    log.append("all exchange")
    for _ in 0..<40 {
      var moved = false
      for (into, from) in ways.shuffled(using: &random) {
        if try await pull(into, from, &machines) { moved = true }
      }
      if !moved { return }
    }
    throw Failure(text: "does not come to rest")
  }

  private func requireAgreement(_ machines: [Machine]) async throws {
    let first = machines[0].store
    for machine in machines.dropFirst() {
      let store = machine.store
      try require(
        try await store.values() == first.values(), "\(try await store.values()) and \(try await first.values())")
      try require(try await store.digests.deep().record == first.digests.deep().record, "the digests differ")
    }
  }

  private func requireSound(_ machine: Machine) async throws {
    let findings = try await HealthStore.checkIntegrity(directory: machine.directory.path).findings
    try require(findings == [], "\(findings)")
    try await machine.store.expectTrueCounts("\(log)")
  }
}
