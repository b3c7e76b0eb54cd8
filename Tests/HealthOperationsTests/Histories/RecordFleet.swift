import Destinations
import Foundation
import GRDB
import HealthAnalysis
import HealthFormats
import HealthModel
import PeerServer
import PeerTrust
import Synchronization
import TestSupport

@testable import HealthOperations
@testable import HealthStore

/// Three machines that run through a history, together with a model of what was recorded and deleted that is
/// independent of the product's own rules.
final class RecordFleet {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private struct Machine {
    let home: TestHome
    let registry: PeerRegistry
    let clock = Clock()
    var store: HealthStore
    var inbox: InboxReceiver
    /// The position up to which each other machine has been read.
    var positions: [Int: (anchor: Anchor, epoch: Epoch)] = [:]
    /// The state at the most recent save.
    var saved: Saved?

    struct Saved {
      let directory: TemporaryDirectory
      let positions: [Int: (anchor: Anchor, epoch: Epoch)]
    }

    /// A clock that is wrong by a number of hours.
    final class Clock: Sendable {
      private let hours = Mutex<Int64>(0)

      func set(_ hours: Int64) { self.hours.withLock { $0 = hours } }

      func now() -> Timestamp {
        Timestamp(microseconds: Timestamp.now.microseconds + hours.withLock { $0 } * 3_600_000_000)
      }
    }

    init(senders: Set<String>) async throws {
      home = try TestHome()
      registry = try await home.home.openRegistry()
      store = try HealthStore(directory: home.store.directory, create: false, clock: clock.now)
      inbox = InboxReceiver(store: store, registry: registry)
      for sender in senders {
        try await registry.addInboxSender(sender, secret: .random(), types: nil, person: Person())
      }
    }

    mutating func save() throws {
      let directory = try TemporaryDirectory(inMemory: true)
      try store.copyBlocking(to: directory.path(HealthStore.fileName), withoutKey: false)
      saved = Saved(directory: directory, positions: positions)
    }

    /// Restores the saved state. The saved copy stays unchanged.
    mutating func restore() throws {
      guard let saved else { return }
      let directory = try TemporaryDirectory(inMemory: true)
      try FileManager.default.copyItem(
        atPath: saved.directory.path(HealthStore.fileName), toPath: directory.path(HealthStore.fileName))
      store = try HealthStore(directory: directory.path, create: false, clock: clock.now)
      inbox = InboxReceiver(store: store, registry: registry)
      positions = saved.positions
      restored = directory
    }

    private var restored: TemporaryDirectory?

    // MARK: What a program was given

    /// The number of the receiving program. A restored machine delivers to a new program, which has no data from
    /// before the restore.
    private var program = 0
    private var given: String { home.directory.path("given-\(program).ndjson") }

    mutating func changeProgram() { program += 1 }

    func deliver() async throws {
      try PrivateSettings.write(
        """
        [destination.program-\(program)]
        kind = "command"
        command = ["/bin/sh", "-c", "[ $HPEER_STARTS_OVER = 0 ] || : > '\(given)'; cat >> '\(given)'"]

        """, home.home.settingsPath)
      guard let section = try home.home.settings().destination("program-\(program)") else {
        throw Failure(description: "the destination is not there")
      }
      let report = try await DeliverOperation(section, home: home.home, store: store).run()
      guard report.refused == 0 else { throw Failure(description: "\(report.refused) were refused") }
    }

    private struct Line: Decodable {
      var added: Sample?
      var deleted: Tombstone?
    }

    /// Returns the UUIDs of the samples that the program has.
    func delivered() throws -> Set<UUID> {
      guard FileManager.default.fileExists(atPath: given) else { return [] }
      var found: Set<UUID> = []
      for text in try String(contentsOfFile: given, encoding: .utf8).split(separator: "\n") {
        let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        if let sample = line.added { found.insert(sample.uuid) }
        if let tombstone = line.deleted { found.remove(tombstone.sample.uuid) }
      }
      return found
    }
  }

  private let world: RecordWorld
  private var machines: [Machine] = []
  /// The samples in the complete exports that were imported.
  private var said: Set<RecordWorld.Key> = []
  /// The samples that a person saw and deleted.
  private var deleted: Set<RecordWorld.Key> = []
  /// The samples whose fate the model can't predict, for example because an import was undone or a machine restored.
  private var unknown: Set<RecordWorld.Key> = []
  /// The source that the person ranked first, by type.
  private var first: [String: String] = [:]
  private var files = 0

  init(_ world: RecordWorld) async throws {
    self.world = world
    for _ in 0..<RecordHistory.machines {
      machines.append(try await Machine(senders: Set(world.bodies.map(\.sender))))
    }
  }

  private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw Failure(description: text()) }
  }

  // MARK: Steps

  func run(_ step: RecordHistory.Step) async throws {
    switch step {
    case .imports(let machine, let export, let way): try await importExport(machine, export, way)
    case .delivers(let machine): try await machines[machine].deliver()
    case .ranks(let source, let type):
      first[type] = source
      for machine in machines { try await machine.store.settings.setFirstSource(source, of: SampleType(type)) }
    case .takes(let machine, let body): try await take(machine, world.bodies[body])
    case .pulls(let into, let from, let pageSize, let pages):
      _ = try await pull(into, from, pageSize: pageSize, pages: pages)
    case .deletes(let machine, let type, let hours): try await delete(machine, type, hours)
    case .undoes(let machine): try await undo(machine)
    case .undeletes(let machine, let export): try await undelete(machine, export)
    case .copies(let from, let into, let format): try await copy(from, into, format)
    case .saves(let machine): try machines[machine].save()
    case .restores(let machine):
      try await restore(machine)
    case .watches(let machine, let export): try await watch(machine, export)
    case .setsClock(let machine, let hours): machines[machine].clock.set(hours)
    case .hasNoRoom(let step, let machine, let pages): try await runWithoutRoom(step, machine, pages)
    }
  }

  private func runWithoutRoom(_ step: RecordHistory.Step, _ machine: Int, _ pages: Int) async throws {
    let store = machines[machine].store
    let before = try await shown(machine)
    let limit = try await store.limitPages(to: pages)
    do {
      try await run(step)
    } catch let error as StoreError {
      guard case .diskFull = error else { throw error }
    }
    try await store.limitPages(toAll: limit)
    // What went before there was no room, nobody has seen go.
    unknown.formUnion(before.subtracting(try await shown(machine)))
    try await run(step)
  }

  private func restore(_ machine: Int) async throws {
    if machines[machine].saved == nil { return }
    let before = try await shown(machine)
    try machines[machine].restore()
    machines[machine].changeProgram()
    let after = try await shown(machine)
    // What only this machine had heard since is gone, and what it had deleted may be known to no other.
    var elsewhere: Set<RecordWorld.Key> = []
    for other in machines.indices where other != machine { elsewhere.formUnion(try await shown(other)) }
    unknown.formUnion(before.subtracting(after).subtracting(elsewhere))
    unknown.formUnion(deleted.intersection(after))
  }

  /// Returns the keys of the samples that a machine shows.
  private func shown(_ machine: Int) async throws -> Set<RecordWorld.Key> {
    Set(try await samples(machine).map(RecordWorld.Key.init))
  }

  private func samples(_ machine: Int) async throws -> [Sample] {
    let store = machines[machine].store
    var samples: [Sample] = []
    for entry in try await store.samples.typeCounts() {
      let page = try await store.samples.page(of: entry.type, limit: .max)
      try require(
        page.count == entry.samples,
        "\(machine): \(entry.samples) of \(entry.type) are counted, \(page.count) are there")
      samples += page
    }
    return samples
  }

  private func importExport(_ machine: Int, _ number: Int, _ way: RecordHistory.ImportWay) async throws {
    let export = world.exports[number]
    let (home, store) = (machines[machine].home, machines[machine].store)
    let path = try write(export, for: home)
    var options = ImportOptions()
    options.rescans = way == .rescan
    options.isSnapshot = way == .snapshot && !export.isCut
    options.force = true
    let before = try await shown(machine)
    _ = try await home.importer(path, options).run(into: store)
    if options.isSnapshot {
      // What the phone has not any more is deleted; what apps said of it may stay.
      unknown.formUnion(before.subtracting(try await shown(machine)))
    }
    if export.isCut { unknown.formUnion(export.keys.subtracting(said)) } else { said.formUnion(export.keys) }
  }

  /// Imports the files found in the machine's watched folder, each once.
  private func watch(_ machine: Int, _ number: Int) async throws {
    let export = world.exports[number]
    let (home, store) = (machines[machine].home, machines[machine].store)
    let folder = home.directory.path("watched")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // Half of them come under one name, one after the other.
    let path = "\(folder)/\(number % 2 == 0 ? "export" : export.name).xml"
    try Data(export.text.utf8).write(to: URL(filePath: path))
    var watcher = FolderWatcher(
      activity: "automation:watched", folder: WatchedFolder(path: folder, pattern: "*.xml"), store: store,
      time: AutomationClock())
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: path)
    while let occasion = try await watcher.pending(), case .file(let found) = occasion {
      let ended = try await watcher.begins(occasion)
      var options = ImportOptions()
      options.force = true
      do {
        _ = try await home.importer(found, options).run(into: store)
      } catch let error as StoreError {
        try await ended()
        throw error
      }
      try await watcher.dealtWith(occasion, failure: nil)
    }
    if export.isCut { unknown.formUnion(export.keys.subtracting(said)) } else { said.formUnion(export.keys) }
  }

  /// Writes an export and its folders as an unpacked archive, and returns its path.
  private func write(_ export: RecordWorld.Export, for home: TestHome) throws -> String {
    let folder = home.directory.path(export.name)
    try? FileManager.default.removeItem(atPath: folder)
    for (name, text) in export.tracks.merging(["export.xml": export.text], uniquingKeysWith: { first, _ in first }) {
      let path = "\(folder)/\(name)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
    return folder
  }

  private func take(_ machine: Int, _ body: RecordWorld.Body) async throws {
    guard let sender = try await machines[machine].registry.inboxSenders().first(where: { $0.name == body.sender })
    else { throw Failure(description: "\(body.sender) is no sender") }
    let delivery = InboxDelivery(
      sender: sender, bytes: Array(body.text.utf8), aggregation: body.sender == "transfer" ? nil : "Days")
    _ = try await machines[machine].inbox.take(delivery)
    // A heart rate that an app brings was not said by an export, perhaps.
    if body.sender == "transfer" { unknown.formUnion(try await shown(machine).subtracting(said)) }
  }

  /// - Returns: Whether any changes arrived.
  private func pull(_ into: Int, _ from: Int, pageSize: Int, pages: Int) async throws -> Bool {
    let source = machines[from].store
    var (hasCome, count) = (false, 0)
    while count < pages {
      count += 1
      let position = machines[into].positions[from]
      let page: CodedChangePage
      do throws(StoreError) {
        page = try await source.feed.codedChanges(
          since: position?.anchor ?? .zero, epoch: position?.epoch, limit: pageSize)
      } catch {
        guard error == .anchorOutOfRange else { throw error }
        machines[into].positions[from] = nil
        continue
      }
      let read = AuditRead(
        AuditEvent(.dataRead), by: "machine \(into)", at: AuditRead.Moment(session: 1, elapsed: 0))
      try await source.audit.record(read, at: (page.anchor, page.epoch), read: page.anchor)
      if !page.changes.isEmpty {
        try await machines[into].store.apply([page.changes])
        hasCome = true
      }
      machines[into].positions[from] = (page.anchor, page.epoch)
      if page.isLast { break }
    }
    return hasCome
  }

  private func delete(_ machine: Int, _ type: String?, _ hours: Range<Int64>) async throws {
    let filter = SampleFilter(
      types: type.map { [SampleType($0)] }, earliest: Timestamp(seconds: RecordWorld.start + hours.lowerBound * 3_600),
      end: Timestamp(seconds: RecordWorld.start + hours.upperBound * 3_600))
    let store = machines[machine].store
    let before = try await shown(machine)
    let operation = DeleteOperation(filter)
    try await operation.run(try await operation.plan(in: store), in: store)
    let gone = before.subtracting(try await shown(machine))
    // Other exports may have other meals of that minute.
    deleted.formUnion(gone.filter { $0.type != RecordWorld.meal })
    let inside = before.filter { key in
      type.map { key.type == $0 } ?? true
        && hours.contains((key.start - RecordWorld.start) / 3_600) && key.start >= RecordWorld.start
    }
    try require(
      inside.isSubset(of: gone), "\(machine): \(inside.subtracting(gone).sorted()) were deleted, and are there")
  }

  private func undo(_ machine: Int) async throws {
    let before = try await shown(machine)
    guard case .undone = try await machines[machine].store.imports.undoLast() else { return }
    let after = try await shown(machine)
    unknown.formUnion(before.symmetricDifference(after))
    // What an import brought again, over what an app had, was said by it alone.
    unknown.formUnion(said)
  }

  private func undelete(_ machine: Int, _ export: Int) async throws {
    let (home, store) = (machines[machine].home, machines[machine].store)
    let path = try write(world.exports[export], for: home)
    let operation = RestoreOperation(
      .everything, from: try await ImportFile.recognised(at: path), named: world.exports[export].name)
    let before = try await shown(machine)
    _ = try await operation.run(try await operation.plan(in: store), in: store)
    unknown.formUnion(try await shown(machine).subtracting(before))
  }

  private func copy(_ from: Int, _ into: Int, _ format: ExportFormat) async throws {
    files += 1
    let path = machines[from].home.directory.path("copy-\(files).\(format.suffix)")
    _ = try await ExportOperation(format, to: .file(path: path, replaces: false)).run(from: machines[from].store)
    // What Apple's form cannot say of a sample makes another of it.
    if format == .appleXML { unknown.formUnion(try await shown(from)) }
    _ = try await machines[into].home.importer(path).run(into: machines[into].store)
  }

  // MARK: The end

  /// Exchanges changes until nothing moves, then requires that all machines agree with each other and with the model.
  func settle(seed: UInt64) async throws {
    // A machine that was restored has forgotten what was decided since; the person says it again.
    for (type, source) in first {
      for machine in machines { try await machine.store.settings.setFirstSource(source, of: SampleType(type)) }
    }
    try await exchange(seed)
    let first = try await view(0)
    for machine in 1..<machines.count {
      let other = try await view(machine)
      for (name, lines) in first.sorted(by: { $0.value.count < $1.value.count }) {
        let others = other[name] ?? []
        try require(
          lines == others,
          "\(name) of 0 and \(machine) differ: \(Set(lines).symmetricDifference(others).sorted().prefix(4))")
      }
    }
    for machine in machines.indices {
      let findings = try await HealthStore.checkIntegrity(directory: machines[machine].store.directory).findings
      try require(findings == [], "\(machine): \(findings)")
    }
    let shown = try await shown(0)
    let missing = said.subtracting(deleted).subtracting(unknown).subtracting(shown)
    try require(missing.isEmpty, "said, not deleted, and missing: \(missing.sorted().prefix(4))")
    let back = deleted.subtracting(unknown).intersection(shown)
    try require(back.isEmpty, "deleted, and back: \(back.sorted().prefix(4))")
  }

  private func exchange(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let pairs = machines.indices.flatMap { into in machines.indices.map { (into, $0) } }.filter { $0.0 != $0.1 }
    for _ in 0..<20 {
      var moved = false
      for (into, from) in pairs.shuffled(using: &random) {
        let before = try await machines[into].store.feed.currentAnchor()
        _ = try await pull(into, from, pageSize: Int.random(in: 1...50, using: &random), pages: .max)
        if try await machines[into].store.feed.currentAnchor() != before { moved = true }
      }
      if !moved { return }
    }
    throw Failure(description: "the machines do not come to rest")
  }

  /// Returns everything that a machine reports about its record, as sorted lines by kind of output.
  private func view(_ machine: Int) async throws -> [String: [String]] {
    let store = machines[machine].store
    let samples = try await samples(machine)
    var view = ["shown": try samples.map { String(decoding: try $0.text(), as: UTF8.self) }.sorted()]
    view["types"] = try await store.samples.typeCounts().map { "\($0)" }.sorted()
    view["statistics"] = try await statistics(of: store)
    for type in [nil, SampleType("HKQuantityTypeIdentifierStepCount")] {
      let kept = try await Rollups(of: store).sources(of: type)
      try require(try await SourceSurvey.sources(of: type, in: store) == kept, "\(machine): \(kept) are kept")
      view["sources", default: []] += kept.map { "\($0)" }
    }
    try await machines[machine].deliver()
    let given = try machines[machine].delivered()
    let differing = given.symmetricDifference(samples.map(\.uuid))
    try require(
      differing.isEmpty,
      "\(machine): a program was given \(given.count) of \(samples.count), \(differing.count) others: "
        + "\(samples.filter { differing.contains($0.uuid) }.prefix(3).map(RecordWorld.Key.init))")
    view["digest"] = ["\(try await store.digests.deep().record)"]
    for format in ExportFormat.allCases where format != .sqlite && format != .appleArchive {
      let path = machines[machine].home.directory.path("view")
      // Without a subject, each store is a patient of its own.
      let operation = ExportOperation(
        format, to: .file(path: path, replaces: true),
        options: .with { $0.fhir = FHIROptions(subject: "Patient/1") })
      let summary = try await operation.run(from: store)
      view[format.rawValue] = Self.lines(try String(contentsOfFile: path, encoding: .utf8)) + ["\(summary.written)"]
      if [.json, .csv].contains(format) {
        try require(
          summary.written == samples.count, "\(machine): \(summary.written) in \(format), \(samples.count) are shown")
      }
    }
    return view
  }

  /// Returns the daily statistics of each type and requires that stored and computed values agree.
  private func statistics(of store: HealthStore) async throws -> [String] {
    let zone = try ZoneRules(named: "Europe/Berlin")
    let rollups = Rollups(of: store)
    var lines: [String] = []
    for entry in try await store.samples.typeCounts() {
      let query = StatisticsQuery(entry.type, by: .day, in: zone, now: Timestamp(seconds: RecordWorld.start * 2))
      let (kept, computed): ([String], [String])
      do {
        kept = Self.lines(try await rollups.statistics(query))
        computed = Self.lines(try await query.computed(from: store))
      } catch is StatisticsError {
        // Of a type without numbers.
        continue
      }
      try require(kept == computed, "\(kept) are kept, \(computed) are computed")
      lines += Self.lines(try await query.run(on: rollups))
    }
    return lines
  }

  private static func lines(_ statistics: Statistics) -> [String] {
    func text(_ value: Double?) -> String { value.map { String(format: "%.6g", $0) } ?? "-" }
    return statistics.values.map { value in
      let number =
        switch value.number {
        case .sum(let sum): "\(text(sum.sum)) of \(sum.sources.map(\.name))"
        case .discrete(let values):
          "\(values.count): \(text(values.minimum)) \(text(values.maximum)) \(text(values.mean)) \(text(values.last))"
        }
      return "\(statistics.type.shortName) \(value.bucket.start): \(number)"
    }
  }

  /// Returns the sorted lines of an export, without the time at which it was written.
  private static func lines(_ text: String) -> [String] {
    text.replacing(#/20(2[5-9]|[3-9]\d)-?\d\d-?\d\d[T ][0-9:.]+( ?[+-]\d{4}|Z)?/#, with: "NOW")
      // When a value was said last is remembered, and written with it only where that decides something.
      .replacing(#/("statement":"[0-9a-f]{32})[0-9a-f]{32}/#) { "\($0.output.1)" }
      .replacing("},{", with: "}\n{").split(separator: "\n")
      .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ", ")) }.sorted()
  }
}

extension HealthStore {
  /// Lets the store grow by at most the given number of pages.
  ///
  /// - Returns: The previous limit.
  fileprivate func limitPages(to more: Int) async throws -> Int {
    try await write { db in
      let limit = try Int.fetchOne(db, sql: "PRAGMA max_page_count") ?? .max
      let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      try db.execute(sql: "PRAGMA max_page_count = \(count + more)")
      return limit
    }
  }

  fileprivate func limitPages(toAll limit: Int) async throws {
    try await write { db in try db.execute(sql: "PRAGMA max_page_count = \(limit)") }
  }
}
