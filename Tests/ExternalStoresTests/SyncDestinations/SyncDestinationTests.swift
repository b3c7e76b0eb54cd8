import ExternalStores
import Foundation
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@Suite("destinations of HealthPush", .timeLimit(.minutes(5)))
struct SyncDestinationTests {
  private let directory: TemporaryDirectory
  private let record: HealthStore
  private let samples: [Sample]

  init() async throws {
    directory = try TemporaryDirectory()
    record = try HealthStore(directory: directory.path("home"))
    var maker = SampleMaker(seed: 161)
    samples = (0..<60).map { maker.steps(at: $0) }
  }

  private func add(_ range: Range<Int>) async throws {
    try await record.apply(ChangeBatch(additions: Array(samples[range])))
  }

  private func delete(_ index: Int) async throws {
    try await record.apply(ChangeBatch(deletions: [Tombstone(sample: samples[index].reference, deleted: .now)]))
  }

  /// Returns the lines that the guide's destination writes for samples, ordered by time.
  private func lines(_ samples: [Sample]) throws -> [String] {
    let dates = ISO8601DateFormatter()
    return try samples.sorted { $0.start < $1.start }.map { sample in
      guard case .quantity(let quantity) = sample.payload else { throw ExternalStoreError.notSupported }
      let start = Date(timeIntervalSince1970: Double(sample.start.microseconds) / 1e6)
      return "steps,\(quantity.value),count,\(dates.string(from: start))"
    }
  }

  /// Returns the lines of the file written last.
  private func written(_ folder: URL) throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names.allSatisfy { $0.hasPrefix("healthpush-") && $0.hasSuffix("Z.csv") }, "\(names)")
    let text = try String(contentsOf: folder.appending(path: try #require(names.last)), encoding: .utf8)
    #expect(text.hasPrefix("metric,value,unit,timestamp\n"))
    return text.split(separator: "\n").dropFirst().map(String.init)
  }

  private func csv() throws -> CSVExportDestination {
    let folder = directory.url.appending(path: "export")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return CSVExportDestination(exportDirectory: folder)
  }

  @Test("the guide's own test of its example")
  func guide() async throws {
    let destination = try csv()
    #expect(try await destination.testConnection())
    try await destination.sync(
      data: [HealthDataPoint(metricType: .steps, value: 1000, unit: "steps", timestamp: Date(timeIntervalSince1970: 0))]
    )
    #expect(try written(destination.exportDirectory) == ["steps,1000.0,steps,1970-01-01T00:00:00Z"])
    let gone = CSVExportDestination(exportDirectory: directory.url.appending(path: "not there"))
    #expect(try await gone.testConnection() == false)
  }

  @Test("the guide's example follows a record: what it wrote last is what the record holds")
  func guideFollows() async throws {
    let destination = try csv()
    let observer = SyncDestinationObserver(store: record, destination: destination)
    #expect(try await observer.execute() == SyncStats(processedCount: 0, newCount: 0))
    try await add(0..<40)
    #expect(try await observer.execute().processedCount == 40)
    #expect(try written(destination.exportDirectory) == (try lines(Array(samples[..<40]))))
    try await delete(7)
    try await add(40..<60)
    try await observer.execute()
    let left = samples.indices.filter { $0 != 7 }.map { samples[$0] }
    #expect(try written(destination.exportDirectory) == (try lines(left)))
    // Nothing is new: nothing is written.
    try await observer.execute()
    for name in try FileManager.default.contentsOfDirectory(atPath: destination.exportDirectory.path) {
      try FileManager.default.removeItem(at: destination.exportDirectory.appending(path: name))
    }
    try await observer.execute()
    #expect(try FileManager.default.contentsOfDirectory(atPath: destination.exportDirectory.path) == [])
  }

  @Test(
    "the guide's example, interrupted and begun again by another process: what it wrote last is what the record holds")
  func guideAgain() async throws {
    var destination = try csv()
    let folder = destination.exportDirectory
    try await add(0..<30)
    // It cannot write: nothing counts as passed on.
    destination.exportDirectory = directory.url.appending(path: "not there")
    await #expect(throws: SyncFailure.self) {
      try await SyncDestinationObserver(store: record, destination: destination).execute()
    }
    destination.exportDirectory = folder
    try await delete(3)
    // Written, and killed before the position was kept.
    let killed = KilledDestination(destination)
    await #expect(throws: SyncFailure.self) {
      try await SyncDestinationObserver(store: record, destination: killed).execute()
    }
    try await delete(4)
    let again = try HealthStore(directory: directory.path("home"))
    try await SyncDestinationObserver(store: again, destination: destination).execute()
    let left = (0..<30).filter { $0 != 3 && $0 != 4 }.map { samples[$0] }
    #expect(try written(folder) == (try lines(left)))
  }

  /// A destination that accepts data but throws before it can acknowledge it.
  private struct KilledDestination: SyncDestination {
    struct Killed: Error {}
    let destination: CSVExportDestination
    var id: UUID { destination.id }
    let name = "killed"
    let isEnabled = true

    init(_ destination: CSVExportDestination) { self.destination = destination }

    func sync(data: [HealthDataPoint]) async throws {
      try await destination.sync(data: data)
      throw Killed()
    }
    func testConnection() async throws -> Bool { true }
  }

  @Test("everything at once is limited")
  func limit() async throws {
    try await add(0..<30)
    let observer = SyncDestinationObserver(store: record, destination: try csv(), maximumPoints: 29)
    let failure = try #require(await #expect(throws: SyncFailure.self) { try await observer.execute() })
    #expect(failure.category == .permanent)
    #expect(failure.message == "\(SyncDestinationError.tooManyPoints(name: "CSV Export", limit: 29))")
    // One that observes ends with it, rather than try for ever.
    await #expect(throws: SyncFailure.self) { try await observer.observe() }
    let narrow = SyncDestinationObserver(
      store: record, destination: observer.destination, filter: SampleFilter(sources: []), maximumPoints: 29)
    try await narrow.execute()
  }

  @Test("the code's shape is given what has changed, in batches, and deletions as points", arguments: [nil, 7])
  func changes(size: Int?) async throws {
    let destination = PointDestination(SyncCapabilities(isIdempotent: true, maxBatchSize: size))
    let observer = SyncDestinationObserver(store: record, destination: destination)
    try await add(0..<20)
    #expect(try await observer.execute() == SyncStats(processedCount: 20, newCount: 20))
    #expect(destination.seen.calls == (size == nil ? [20] : [7, 7, 6]))
    #expect(Set(destination.seen.points.keys) == Set(samples[..<20].map(\.uuid)))
    let point = try #require(destination.seen.points[samples[0].uuid])
    #expect(point.metricType == .steps && point.unit == "count" && point.sourceName == "iPhone")
    #expect(point.endDate.timeIntervalSince(point.startDate) == 60 && !point.deleted)
    try await delete(2)
    try await add(20..<21)
    #expect(try await observer.execute() == SyncStats(processedCount: 2, newCount: 1))
    #expect(Set(destination.seen.points.keys) == Set(samples[..<21].map(\.uuid)).subtracting([samples[2].uuid]))
    #expect(try await observer.execute().processedCount == 0)
    try await observer.reset()
    #expect(try await observer.execute().newCount == 0)
    #expect(destination.seen.points.count == 20)
  }

  @Test("one that takes changes is asked, once, to forget what it has before everything comes again")
  func forgets() async throws {
    let destination = PointDestination(SyncCapabilities(supportsIncremental: true, maxBatchSize: 2), forgets: true)
    let observer = SyncDestinationObserver(store: record, destination: destination)
    try await add(0..<5)
    _ = try await observer.execute()
    #expect(destination.seen.askedToForget == 0)
    try await observer.reset()
    #expect(try await observer.execute().newCount == 5)
    #expect(destination.seen.askedToForget == 1)
    #expect(Set(destination.seen.points.keys) == Set(samples[..<5].map(\.uuid)))
    try await add(5..<6)
    #expect(try await observer.execute() == SyncStats(processedCount: 1, newCount: 1))
    #expect(destination.seen.askedToForget == 1)
  }

  @Test("a reset that is interrupted leaves the position as it was, or has everything forgotten before it comes again")
  func interruptedReset() async throws {
    let destination = PointDestination(
      SyncCapabilities(supportsIncremental: true), forgets: true,
      willSayWindow: { call in if call == 1 { withUnsafeCurrentTask { $0?.cancel() } } })
    let observer = SyncDestinationObserver(store: record, destination: destination)
    try await add(0..<5)
    _ = try await observer.execute()
    // As a kill does, between what is read and what is written.
    _ = await Task { try await observer.reset() }.result
    #expect(destination.seen.askedForWindow == 2)
    let again = try await observer.execute().processedCount
    #expect(again == 0 && destination.seen.askedToForget == 0 || again == 5 && destination.seen.askedToForget == 1)
    try await observer.reset()
    #expect(try await observer.execute().processedCount == 5)
    #expect(destination.seen.askedToForget == (again == 0 ? 1 : 2))
  }

  @Test("a lost answer: the batch comes again, and is there once")
  func lostAnswer() async throws {
    struct Lost: Error {}
    let destination = PointDestination(SyncCapabilities(isIdempotent: true, maxBatchSize: 10)) { call in
      call == 1 ? Lost() : nil
    }
    let observer = SyncDestinationObserver(store: record, destination: destination)
    try await add(0..<25)
    let failure = try #require(await #expect(throws: SyncFailure.self) { try await observer.execute() })
    #expect(failure.category == .transient)
    #expect(try await observer.execute() == SyncStats(processedCount: 15, newCount: 5))
    #expect(destination.seen.calls == [10, 10, 10, 5])
    #expect(destination.seen.points.count == 25)
  }

  @Test("one that keeps only the last is not told of deletions")
  func fireAndForget() async throws {
    let destination = PointDestination(SyncCapabilities(supportsIncremental: true, isFireAndForget: true))
    let observer = SyncDestinationObserver(store: record, destination: destination)
    try await add(0..<3)
    try await observer.execute()
    try await delete(1)
    #expect(try await observer.execute() == SyncStats(processedCount: 0, newCount: 0))
    #expect(destination.seen.calls == [3])
  }

  @Test("what starts before the window is left out, and not asked for again")
  func window() async throws {
    let start = Date(timeIntervalSince1970: Double(samples[10].start.seconds))
    let destination = PointDestination(SyncCapabilities(isIdempotent: true, maxBatchSize: 5), start: start)
    try await add(0..<20)
    try await SyncDestinationObserver(store: record, destination: destination).execute()
    #expect(Set(destination.seen.points.keys) == Set(samples[10..<20].map(\.uuid)))
    // The next run, perhaps of another process, is of the same time.
    try await add(20..<30)
    try await SyncDestinationObserver(store: record, destination: destination).execute()
    #expect(Set(destination.seen.points.keys) == Set(samples[10..<30].map(\.uuid)))
  }

  @Test("one that is not enabled is given nothing, and everything later")
  func disabled() async throws {
    let destination = PointDestination(SyncCapabilities(isIdempotent: true), isEnabled: false)
    try await add(0..<3)
    #expect(try await SyncDestinationObserver(store: record, destination: destination).execute().processedCount == 0)
    #expect(try await record.consumers().isEmpty)
  }

  @Test("one without any function to sync says so, rather than go round in circles")
  func idle() async throws {
    try await add(0..<1)
    let observer = SyncDestinationObserver(store: record, destination: IdleDestination())
    let failure = try #require(await #expect(throws: SyncFailure.self) { try await observer.execute() })
    #expect(failure.category == .permanent && failure.message.contains("idle"))
    await #expect(throws: SyncDestinationError.noSync("idle")) { try await IdleDestination().sync(data: []) }
  }

  @Test("while observing, what fails is tried again, and what is permanent ends it")
  func observing() async throws {
    struct Refusal: Error {}
    let clock = ManualClock()
    let destination = PointDestination(SyncCapabilities(isIdempotent: true)) { call in
      switch call {
      case 0: Refusal()
      case 1: SyncFailure(.permanent, message: "The password is wrong.")
      default: nil
      }
    }
    let observer = SyncDestinationObserver(store: record, destination: destination, clock: clock)
    try await add(0..<2)
    let observing = Task { try await observer.observe() }
    while clock.sleepers == 0 { await Task.yield() }
    clock.advance(by: .seconds(1))
    await #expect(throws: SyncFailure(.permanent, message: "The password is wrong.")) {
      try await observing.value
    }
    #expect(destination.seen.calls == [2, 2])
  }

  @Test("values are in one unit for each metric, and what is no quantity has its duration")
  func values() async throws {
    let start = Timestamp(seconds: 1_700_000_000)
    func sample(_ type: String, _ payload: Payload, seconds: Int64) -> Sample {
      Sample(
        uuid: UUID(), type: SampleType(type), start: start, end: Timestamp(seconds: start.seconds + seconds),
        source: Source(name: "Watch"), payload: payload)
    }
    let height = sample("HKQuantityTypeIdentifierHeight", .quantity(Quantity(1.8, "m")), seconds: 0)
    let odd = sample("HKQuantityTypeIdentifierHeight", .quantity(Quantity(6, "lightyear?")), seconds: 0)
    let sleep = sample("HKCategoryTypeIdentifierSleepAnalysis", .category(CategoryValue(value: 4)), seconds: 90)
    let destination = PointDestination(SyncCapabilities(isIdempotent: true))
    try await record.apply(ChangeBatch(additions: [height, odd, sleep]))
    try await SyncDestinationObserver(store: record, destination: destination).execute()
    let points = destination.seen.points
    let tall = try #require(points[height.uuid])
    #expect(tall.metricType == .height && abs(tall.value - 180) < 1e-9 && tall.unit == "cm")
    #expect(points[odd.uuid]?.value == 6 && points[odd.uuid]?.unit == "lightyear?")
    let night = try #require(points[sleep.uuid])
    #expect(night.metricType == .sleepAnalysis && night.value == 90 && night.unit == "s" && night.categoryValue == 4)
  }

  @Test("the names of HealthPush's metrics are those of the types, whose other names are HealthKit's")
  func names() {
    #expect(HealthMetricType(SampleType("HKQuantityTypeIdentifierStepCount")) == .steps)
    #expect(
      HealthMetricType(SampleType("HKQuantityTypeIdentifierHeartRateVariabilitySDNN")) == .heartRateVariabilitySDNN)
    #expect(HealthMetricType(SampleType("HKCategoryTypeIdentifierSleepAnalysis")) == .sleepAnalysis)
    #expect(HealthMetricType(SampleType("Another")).rawValue == "Another")
  }
}
