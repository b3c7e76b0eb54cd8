import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests with a sample that arrives by every road, in every order, on two machines that pull from each other: it is
/// shown once, in its most detailed form, a single deletion removes it, and it doesn't return.
@Suite struct EveryRoadTests {
  /// A copy of a sample and the road by which it arrives.
  private struct Copy {
    var sample: Sample
    var road: SampleRoad
  }

  private static func cut(_ sample: Sample) -> Sample {
    var copy = sample
    (copy.start, copy.end) = (Timestamp(seconds: sample.start.seconds), Timestamp(seconds: sample.end.seconds))
    return copy
  }

  /// Returns a copy without bundle identifier and version of the source, as HealthSync sends it.
  private static func poor(_ sample: Sample) -> Sample {
    var copy = cut(sample)
    copy.source = Source(name: sample.source.name)
    return copy
  }

  private static func orders<Element>(of elements: [Element]) -> [[Element]] {
    if elements.count < 2 { return [elements] }
    return elements.indices.flatMap { index in
      var rest = elements
      let first = rest.remove(at: index)
      return orders(of: rest).map { [first] + $0 }
    }
  }

  private func take(_ copy: Copy, into store: HealthStore) async throws {
    switch copy.road {
    case .appleExport: try store.importExport([copy.sample])
    case .healthAutoExport:
      let writer = try ImportWriter(store, named: "auto.json", road: .healthAutoExport)
      var coder = ChangeCoder()
      try coder.add(copy.sample)
      try writer.write(coder.changes)
    default:
      var coder = ChangeCoder()
      try coder.add(copy.sample, road: copy.road)
      try await store.apply([coder.changes])
    }
  }

  private func pull(_ store: HealthStore, from other: HealthStore) async throws {
    try await store.apply([other.feed.codedChanges(since: .zero, limit: 1_000).changes])
  }

  private func shown(_ store: HealthStore, _ type: SampleType) async throws -> [Sample] {
    try await store.samples.page(of: type, limit: 100)
  }

  /// - Parameter expected: The UUID that is shown in the end.
  private func meet(_ order: [Copy], expected: UUID, _ note: Comment) async throws {
    let (one, other) = (try StoreFixture(), try StoreFixture())
    let type = order[0].sample.type
    // One half on each machine.
    for (index, copy) in order.enumerated() { try await take(copy, into: index % 2 == 0 ? one.store : other.store) }
    for _ in 0..<2 {
      try await pull(one.store, from: other.store)
      try await pull(other.store, from: one.store)
    }
    for store in [one.store, other.store] {
      #expect(try await shown(store, type).map(\.uuid) == [expected], note)
    }
    #expect(try await one.store.digests.current().record == other.store.digests.current().record, note)
    guard let gone = order.first(where: { !$0.sample.uuid.isDerived })?.sample else { return }
    // The phone deletes it.
    try await one.store.delete(gone)
    try await pull(other.store, from: one.store)
    for copy in order { try await take(copy, into: other.store) }
    for store in [one.store, other.store] { #expect(try await shown(store, type).isEmpty, note) }
  }

  @Test func aQuantity() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original(offset: 987_654))
    var rounded = original
    (rounded.start.microseconds, rounded.end.microseconds) = (
      original.start.microseconds + 346, original.end.microseconds + 346
    )
    let copies = [
      Copy(sample: exported, road: .appleExport), Copy(sample: Self.cut(original), road: .healthAppTransfer),
      // A table of the app's rounds to milliseconds.
      Copy(sample: rounded, road: .healthAppTransfer), Copy(sample: Self.poor(original), road: .healthSync),
    ]
    for (number, order) in Self.orders(of: copies).enumerated() {
      try await meet(order, expected: exported.uuid, "order \(number)")
    }
  }

  @Test func aWorkoutThatHealthSyncCallsOther() async throws {
    func workout(_ sample: Sample, _ activity: UInt) -> Sample {
      var sample = sample
      sample.payload = .workout(Workout(activityType: .value(activity), duration: 10))
      return sample
    }
    let exported = ExportedSample(type: .workout)
    let original = exported.original(offset: 0)
    let copies = [
      Copy(sample: workout(exported.sample(), 35), road: .appleExport),
      Copy(sample: workout(Self.poor(original), 3000), road: .healthSync),
      Copy(sample: workout(Self.cut(original), 35), road: .healthAppTransfer),
      Copy(sample: workout(exported.sample(ordinal: 7), 35), road: .healthAutoExport),
    ]
    for (number, order) in (Self.orders(of: copies) + Self.orders(of: Array(copies.prefix(2)))).enumerated() {
      try await meet(order, expected: copies[0].sample.uuid, "order \(number)")
    }
  }

  private static func workout(_ sample: Sample, _ activity: WorkoutActivityType, from source: String) -> Sample {
    var sample = sample
    sample.source = Source(name: source)
    sample.payload = .workout(Workout(activityType: activity, duration: 10))
    return sample
  }

  /// Health Auto Export sends a workout without a source and with its activity in the phone's language.
  @Test func aWorkoutWithoutASource() async throws {
    let record = ExportedSample(type: .workout)
    let (exported, original) = (record.sample(), Self.cut(record.original()))
    let copies = [
      Copy(sample: Self.workout(exported, .value(35), from: "Watch"), road: .appleExport),
      Copy(sample: Self.workout(original, .name("Rudern"), from: "Health Auto Export"), road: .healthAutoExport),
      Copy(sample: Self.workout(original, .value(3000), from: "Watch"), road: .healthSync),
      Copy(sample: Self.workout(original, .value(35), from: "Watch"), road: .healthAppTransfer),
    ]
    for count in 2...4 {
      for (number, order) in Self.orders(of: Array(copies.prefix(count))).enumerated() {
        try await meet(order, expected: exported.uuid, "\(count) copies, order \(number)")
      }
    }
  }

  /// Two sources have a workout in the same seconds, so nothing determines the source of the third copy.
  @Test func aWorkoutWithoutASourceBesideThoseOfTwo() async throws {
    let record = ExportedSample(type: .workout)
    let original = Self.cut(record.original())
    let nameless = Self.workout(original, .name("Rudern"), from: "Health Auto Export")
    let exported = ["Watch", "Phone"].map { source in
      Self.workout(ExportedSample(source: source, type: .workout).sample(), .value(35), from: source)
    }
    for order in Self.orders(
      of: exported.map { Copy(sample: $0, road: .appleExport) } + [Copy(sample: nameless, road: .healthAutoExport)])
    {
      let fixture = try StoreFixture()
      for copy in order { try await take(copy, into: fixture.store) }
      #expect(try await Set(shown(fixture.store, .workout).map(\.uuid)) == Set(order.map(\.sample.uuid)))
      #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
      // Another road tells whose it is.
      try await take(
        Copy(sample: Self.workout(original, .value(35), from: "Watch"), road: .healthAppTransfer), into: fixture.store)
      #expect(try await Set(shown(fixture.store, .workout).map(\.uuid)) == Set(exported.map(\.uuid)))
    }
  }

  /// An app sends the new name of a renamed device also for samples recorded under the old name.
  @Test func aDeviceThatWasRenamedBetweenTwoPulls() async throws {
    let record = ExportedSample()
    let old = Self.cut(record.original())
    var renamed = old
    renamed.source.name = "Ultra"
    var other = Self.poor(old)
    other.source.name = "Ultra"
    for (number, order) in Self.orders(of: [
      Copy(sample: old, road: .healthAppTransfer), Copy(sample: renamed, road: .healthAppTransfer),
      Copy(sample: other, road: .healthSync),
    ]).enumerated() {
      try await meet(order, expected: old.uuid, "order \(number)")
    }
  }

  /// An export has a sample under one name of the device, and an app under another.
  @Test(arguments: [("Watch", "Ultra"), ("Ultra", "Watch")])
  func aDeviceThatWasRenamedBetweenAnExportAndAPull(exportedName: String, toldName: String) async throws {
    let exported = ExportedSample(source: exportedName).sample()
    let told = ExportedSample(source: toldName).original()
    let copies = [
      Copy(sample: exported, road: .appleExport), Copy(sample: Self.cut(told), road: .healthAppTransfer),
      Copy(sample: Self.poor(told), road: .healthSync),
    ]
    for count in 2...3 {
      for (number, order) in Self.orders(of: Array(copies.prefix(count))).enumerated() {
        try await meet(order, expected: exported.uuid, "\(count) copies, order \(number)")
      }
    }
  }

  /// Health Auto Export doesn't send the workout's source either.
  @Test func aWorkoutOfARenamedDevice() async throws {
    let record = ExportedSample(type: .workout)
    let original = Self.cut(record.original())
    let copies = [
      Copy(sample: Self.workout(record.sample(), .value(35), from: "Watch"), road: .appleExport),
      Copy(sample: Self.workout(original, .value(3000), from: "Ultra"), road: .healthSync),
      Copy(sample: Self.workout(original, .name("Rudern"), from: "Health Auto Export"), road: .healthAutoExport),
    ]
    for (number, order) in Self.orders(of: copies).enumerated() {
      try await meet(order, expected: copies[0].sample.uuid, "order \(number)")
    }
  }

  /// Equal samples of two devices, which roads may or may not distinguish.
  @Test(arguments: [
    (["Watch"], ["Watch", "Phone"], 2), (["Watch", "Phone"], ["Phone"], 2), (["Watch"], ["Ultra", "Phone"], 3),
    (["Watch", "Phone"], ["Ultra", "Phone"], 2), (["Watch", "Phone"], ["Ultra", "Pro"], 2),
  ])
  func equalSamplesOfTwoDevicesAreTwo(exported: [String], told: [String], expected: Int) async throws {
    let copies =
      exported.map { Copy(sample: ExportedSample(source: $0).sample(), road: .appleExport) }
      + told.map { Copy(sample: ExportedSample(source: $0).original(), road: .healthAppTransfer) }
    for order in Self.orders(of: copies) {
      let fixture = try StoreFixture()
      for copy in order { try await take(copy, into: fixture.store) }
      #expect(try await shown(fixture.store, order[0].sample.type).count == expected, "\(exported), \(told)")
      #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
    }
  }

  /// A class has a single source and time, whatever its members are.
  @Test func aBloodPressureBesideItsMembers() async throws {
    let exported = ExportedSample(type: SampleType("HKCorrelationTypeIdentifierBloodPressure"))
    var (rich, poor) = (exported.sample(), exported.original(offset: 0))
    rich.payload = .correlation(Correlation(members: [ExportedSample(value: 120, unit: "mmHg").sample().reference]))
    poor.payload = .correlation(Correlation(members: [], isPartial: true))
    poor.metadata = ["hpeer.correlation.systolic": .number(120)]
    for order in Self.orders(of: [
      Copy(sample: rich, road: .appleExport), Copy(sample: poor, road: .healthAppTransfer),
    ]) {
      try await meet(order, expected: rich.uuid, "correlation")
    }
    // The members are samples of their own, and one each.
    let systolic = ExportedSample(
      value: 120, unit: "mmHg", type: SampleType("HKQuantityTypeIdentifierBloodPressureSystolic"))
    for order in Self.orders(
      of: [
        Copy(sample: systolic.sample(), road: .appleExport),
        Copy(sample: Self.cut(systolic.original()), road: .healthAppTransfer),
        Copy(sample: Self.cut(systolic.original()), road: .healthSync),
      ])
    {
      // Two measurements with HealthKit's UUIDs of which the export has one: both are there.
      let (one, other) = (try StoreFixture(), try StoreFixture())
      for copy in order { try await take(copy, into: one.store) }
      try await pull(other.store, from: one.store)
      #expect(try await shown(one.store, systolic.type).count == 2)
      #expect(try await shown(other.store, systolic.type).count == 2)
    }
  }
}
