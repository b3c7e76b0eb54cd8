import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests with random histories of a phone, three stores and every road between them: nothing on the phone is lost or
/// shown twice, all stores end with the same content, and no field loses detail.
@Suite struct RoadHistoryTests {
  @Test(.timeLimit(.minutes(5)), arguments: 0..<8)
  func nothingIsLostOrShownTwice(block: Int) async throws {
    for run in 0..<5 { try await live(seed: UInt64(block * 5 + run)) }
  }

  private func live(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var phone = Phone()
    var stores: [RoadStore] = []
    for _ in 0..<3 { stores.append(RoadStore(fixture: try StoreFixture())) }
    for step in 0..<Int.random(in: 10...40, using: &random) {
      let index = Int.random(in: 0..<3, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2: phone.add(&random)
      case 3: phone.delete(&random)
      case 4, 5:
        phone.exports.append(phone.held)
        try stores[index].takeExport(phone.held, number: phone.exports.count, isNewest: true)
      case 6:
        if let (number, old) = phone.exports.enumerated().randomElement(using: &random) {
          try stores[index].takeExport(old, number: number + 1, isNewest: false)
        }
      case 7, 8:
        try await stores[index].takeApp(phone.held, cutsSeconds: random.oneIn(2))
        try await stores[index].expectAll(phone, "seed \(seed), step \(step)")
      default:
        let other = (index + Int.random(in: 1...2, using: &random)) % 3
        try await stores[index].pull(stores[other], number: other, pageSize: Int.random(in: 1...20, using: &random))
      }
      try await stores[index].expectSound("seed \(seed), step \(step)")
    }
    for index in stores.indices {
      try await stores[index].takeApp(phone.held, cutsSeconds: random.oneIn(2))
      try stores[index].takeExport(phone.held, number: phone.exports.count + 1, isNewest: true)
    }
    for _ in 0..<3 {
      for index in stores.indices {
        for other in stores.indices where other != index {
          try await stores[index].pull(stores[other], number: other, pageSize: 50)
        }
      }
    }
    let first = try await stores[0].fixture.store.contents()
    for (index, one) in stores.enumerated() {
      let name = Comment("seed \(seed), store \(index)")
      let store = one.fixture.store
      #expect(try await store.contents() == first, name)
      #expect(try await store.digests.current().record == stores[0].fixture.store.digests.current().record, name)
      #expect(try await one.shown() == phone.counts(of: phone.held), name)
      // The export says most, and has all that the phone holds.
      let samples = try await store.samples.page(of: Phone.type, limit: 1_000)
      #expect(samples.allSatisfy { $0.created != nil }, name)
      #expect(
        try await HealthStore.checkIntegrity(directory: one.fixture.directory.path).findings == [], name)
    }
  }
}

/// A place for samples of the same second and value.
private struct Place: Hashable {
  var minute: Int
  var value: Double
}

private struct Phone {
  static let type = ExportedSample().type

  struct Thing: Hashable {
    var uuid: UUID
    var place: Place
    var created: Int64
    /// The microseconds of the start, which an export doesn't have.
    var offset: Int64

    var exported: ExportedSample {
      ExportedSample(minute: place.minute, value: place.value, created: created, type: Phone.type)
    }
  }

  private(set) var held: [Thing] = []
  /// Everything that the phone has ever held.
  private(set) var ever: [Thing] = []
  var exports: [[Thing]] = []
  private var clock: Int64 = 100

  mutating func add(_ random: inout SeededGenerator) {
    clock += 1
    let place = Place(minute: Int.random(in: 0..<3, using: &random), value: random.pick([60, 61, 1.234567891]))
    // Whether one that says the same was deleted before, or is the one that comes, nothing on any road tells.
    if ever.contains(where: { $0.place == place && !held.contains($0) }) { return }
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let offset = Int64.random(in: 0...999_999, using: &random)
      held.append(Thing(uuid: UUID(), place: place, created: clock, offset: offset))
      ever.append(held[held.count - 1])
    }
  }

  mutating func delete(_ random: inout SeededGenerator) {
    if !held.isEmpty { held.remove(at: Int.random(in: held.indices, using: &random)) }
  }

  func counts(of things: [Thing]) -> [Place: Int] {
    things.reduce(into: [:]) { $0[$1.place, default: 0] += 1 }
  }
}

private struct RoadStore {
  let fixture: StoreFixture
  private var anchors: [Int: Anchor] = [:]
  /// The samples that an app has sent to this store.
  private var told: [UUID: Sample] = [:]

  init(fixture: StoreFixture) { self.fixture = fixture }

  /// - Parameters:
  ///   - number: The number of the export, starting at 1.
  ///   - isNewest: Whether samples that it lacks were deleted.
  mutating func takeExport(_ things: [Phone.Thing], number: Int, isNewest: Bool) throws {
    let groups = Dictionary(grouping: things) { $0.exported.key }.map { key, things in
      TwinGroup(
        key: key,
        samples: things.map { thing in
          var exported = thing.exported
          // Six digits.
          exported.value = (exported.value * 100_000).rounded() / 100_000
          return exported.sample()
        }.sorted { $0.canonicalValue < $1.canonicalValue })
    }
    let file = ImportRecord.File(name: "export.zip", exported: Timestamp(seconds: 1_710_000_000 + Int64(number)))
    try fixture.store.importExport([], twins: groups, file: file, snapshotOf: isNewest ? [Phone.type] : nil)
  }

  mutating func takeApp(_ things: [Phone.Thing], cutsSeconds: Bool) async throws {
    var coder = ChangeCoder()
    let present = Set(things.map(\.uuid))
    for (uuid, sample) in told where !present.contains(uuid) {
      coder.add(Tombstone(of: sample, deleted: Timestamp(seconds: 1), road: .healthAppTransfer))
      told[uuid] = nil
    }
    for thing in things {
      let sample = thing.exported.original(thing.uuid, offset: cutsSeconds ? 0 : thing.offset)
      told[thing.uuid] = sample
      try coder.add(sample, road: cutsSeconds ? .healthAppTransfer : .healthSync)
    }
    try await fixture.store.apply([coder.changes])
  }

  mutating func pull(_ other: RoadStore, number: Int, pageSize: Int) async throws {
    while true {
      let page = try await other.fixture.store.feed.codedChanges(since: anchors[number] ?? .zero, limit: pageSize)
      try await fixture.store.apply([page.changes])
      anchors[number] = page.anchor
      if page.isLast { return }
    }
  }

  /// Expects that counts and other derived data match the samples.
  func expectSound(_ name: Comment) async throws {
    try await fixture.store.expectTrueCounts(name)
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [], name)
  }

  func shown() async throws -> [Place: Int] {
    try await fixture.store.samples.page(of: Phone.type, limit: 10_000).reduce(into: [:]) { counts, sample in
      guard case .quantity(let quantity) = sample.payload else { return }
      let value = [60, 61, 1.234567891].min { abs($0 - quantity.value) < abs($1 - quantity.value) } ?? 0
      let minute = (sample.start.seconds - 1_704_067_200) / 60
      counts[Place(minute: Int(minute), value: value), default: 0] += 1
    }
  }

  /// Expects everything on the phone, after an app has just sent all of it.
  func expectAll(_ phone: Phone, _ name: String) async throws {
    let shown = try await shown()
    let ever = phone.counts(of: phone.ever)
    for (place, count) in phone.counts(of: phone.held) {
      #expect(shown[place] ?? 0 >= count, "\(name): \(place) is lost")
    }
    for (place, count) in shown { #expect(count <= ever[place] ?? 0, "\(name): \(place) is shown twice") }
  }
}
