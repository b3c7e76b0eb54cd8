import Foundation
import HealthModel
import Testing
import TestSupport

@testable import HealthStore

/// Tests that compare random stores: one imports a file and undoes the import, another never imported it.
@Suite struct UndoModelTests {
  /// A file that exercises everything in an import: new and known records, twins, daily summaries, samples that an
  /// app also sent, and samples missing since the last import.
  private struct File {
    var samples: [Sample]
    var twins: [TwinGroup]
    var readings: [Sample]
    var isSnapshot: Bool

    static let types: Set<SampleType> = [ExportedSample().type]

    init(_ random: inout SeededGenerator) {
      samples = (0..<40).filter { _ in random.oneIn(2) }.map { ExportedSample(minute: $0).sample() }
      twins = [60, 61].filter { _ in random.oneIn(2) }.map { minute in
        let values = [1.0, 2, 3, 4].filter { _ in random.oneIn(2) }
        return TwinGroup(
          key: ExportedSample(minute: minute).key,
          samples: values.map { ExportedSample(minute: minute, value: $0).sample() })
      }.filter { !$0.samples.isEmpty }
      readings = (0..<3).filter { _ in random.oneIn(2) }.map { day in
        let created = Int64.random(in: 1...9, using: &random)
        var sample = Sample(
          uuid: SampleIdentity.namespace, type: SampleType("HKActivitySummaryType"),
          start: Timestamp(seconds: Int64(day) * 86_400), end: Timestamp(seconds: Int64(day + 1) * 86_400),
          created: Timestamp(seconds: created), source: Source(name: ""),
          payload: .activitySummary(ActivitySummary(date: "1970-01-0\(day + 1)", attributes: ["a": "\(created)"])))
        sample.uuid = SampleIdentity.uuid(ofReading: sample)
        return sample
      }
      isSnapshot = random.oneIn(2)
    }

    func write(to store: HealthStore) throws -> WriteSummary {
      let writer = try ImportWriter(store, .init(name: "file"))
      for half in [samples.prefix(samples.count / 2), samples.suffix(samples.count - samples.count / 2)] {
        var coder = ChangeCoder()
        for sample in half { try coder.add(sample) }
        try writer.write(coder.changes, readings: half.startIndex == 0 ? readings : [])
      }
      try writer.write(twins: twins)
      if isSnapshot { try writer.deleteMissing(of: Self.types) }
      return writer.summary
    }
  }

  /// Applies the same random changes to a store.
  private func befall(_ store: HealthStore, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        try await store.add(ExportedSample(minute: Int.random(in: 0..<40, using: &random)).original(Self.uuid(&random)))
      case 1: try await store.delete(ExportedSample(minute: Int.random(in: 0..<40, using: &random)).sample())
      case 2: _ = try await store.digests.keep(step: 10, rest: 0)
      default: _ = try File(&random).write(to: store)
      }
    }
  }

  private static func uuid(_ random: inout SeededGenerator) -> UUID {
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  @Test(.timeLimit(.minutes(5)), arguments: 0..<60 as Range<UInt64>)
  func asIfItHadNeverBeen(seed: UInt64) async throws {
    let place: Comment = "seed \(seed)"
    var random = SeededGenerator(seed: 1_000 + seed)
    let (one, other) = (try StoreFixture(), try StoreFixture())
    for fixture in [one, other] { try await befall(fixture.store, seed: seed) }
    let never = try await other.store.digests.deep().record
    #expect(try await one.store.digests.deep().record == never, place)

    // Readers that stop anywhere before the import, and go on while it runs, but not past its start.
    let start = try await one.store.feed.currentAnchor()
    var readers = [Reader](repeating: Reader(), count: 3)
    for index in readers.indices {
      try await readers[index].read(one.store, to: start, random.oneIn(2) ? 1 : 3, pages: index * 5)
    }
    var file = File(&random)
    // One that changes nothing would leave the one before to be undone.
    file.samples.append(ExportedSample(minute: 70).sample())
    _ = try file.write(to: one.store)
    if random.oneIn(2) { _ = try await one.store.digests.keep(step: 10, rest: 0) }
    for index in readers.indices { try await readers[index].read(one.store, to: start, 1, pages: 4) }

    guard case .undone = try await one.store.imports.undoLast() else {
      Issue.record(place)
      return
    }
    #expect(try await one.store.digests.deep().record == never, place)
    #expect(try await one.store.digests.current().record == other.store.digests.current().record, place)
    #expect(try await one.store.samples.typeCounts() == other.store.samples.typeCounts(), place)
    #expect(try await one.store.imports.twinKeys() == other.store.imports.twinKeys(), place)
    #expect(try await HealthStore.checkIntegrity(directory: one.directory.path).findings == [], place)
    try await one.store.expectTrueCounts(place)
    for index in readers.indices {
      try await readers[index].read(one.store, to: nil, 5, pages: .max)
      #expect(try await readers[index].live == one.store.live(), place)
    }

    // And as one that never had it, it goes on.
    for next in [file, File(&random), File(&random)] {
      let summaries = try [one, other].map { try next.write(to: $0.store) }
      #expect(summaries[0] == summaries[1], place)
      #expect(try await one.store.digests.deep().record == other.store.digests.deep().record, place)
    }
  }
}

extension HealthStore {
  fileprivate func live() async throws -> Set<SampleReference> {
    var live: Set<SampleReference> = []
    for case .added(let sample) in try await allChanges() { live.insert(sample.reference) }
    return live
  }
}

/// A reader that follows a feed, as a peer does.
private struct Reader {
  private var anchor = Anchor.zero
  private var epoch: Epoch?
  private(set) var live: Set<SampleReference> = []
  private var dead: Set<SampleReference> = []

  /// - Parameter end: The position at which reading stops.
  mutating func read(_ store: HealthStore, to end: Anchor?, _ size: Int, pages: Int) async throws {
    var left = pages
    while left > 0 {
      left -= 1
      let page = try await store.feed.changes(since: anchor, epoch: epoch, limit: size)
      if let end, page.anchor > end { return }
      for change in page.changes {
        switch change {
        case .added(let sample): live.insert(sample.reference)
        case .deleted(let tombstone): dead.insert(tombstone.sample)
        }
      }
      live.subtract(dead)
      (anchor, epoch) = (page.anchor, page.epoch)
      if page.isLast { return }
    }
  }
}
