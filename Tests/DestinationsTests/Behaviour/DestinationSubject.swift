import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// The store, the place and the faulty connection between them for a single test.
struct DestinationSubject<Harness: DestinationHarness> {
  let harness: Harness
  let directory: TemporaryDirectory
  let store: HealthStore
  /// The proxy, or `nil` for a kind without a server.
  let proxy: FaultProxy?
  let place: HarnessPlace
  /// The samples made for this test, all of which are in the store.
  let samples: [Sample]
  private let zone: ZoneRules
  private let sendsNames: Bool
  /// Settings in addition to those of the harness.
  private let settings: [String: DestinationSettings.Value]

  /// A retry policy with pauses too short to notice.
  static var quick: RetryPolicy {
    RetryPolicy(
      firstPause: .milliseconds(1), longestPause: .milliseconds(2), longestRetryAfter: .milliseconds(20), tolerance: 4)
  }

  init(_ harness: Harness, samples count: Int) async throws {
    try await self.init(harness, harness.samples(count))
  }

  init(
    _ harness: Harness, _ samples: [Sample], sendsNames: Bool = true,
    settings: [String: DestinationSettings.Value] = [:]
  ) async throws {
    self.harness = harness
    (self.sendsNames, self.settings) = (sendsNames, settings)
    directory = try TemporaryDirectory(inMemory: true)
    store = try HealthStore(directory: directory.path("home"))
    zone = try ZoneRules(named: "Europe/Berlin")
    proxy = try harness.port.map { try FaultProxy(to: $0) }
    let folder = directory.path("place")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    place = HarnessPlace(name: "t" + UUID().uuidString.prefix(8).lowercased(), folder: folder, port: proxy?.port ?? 0)
    self.samples = samples
    try await store.apply(ChangeBatch(additions: samples))
  }

  var consumer: String { "\(Harness.Place.description.kind.rawValue):\(place.name)" }

  func delete(_ samples: some Sequence<Sample>) async throws {
    try await store.apply(ChangeBatch(deletions: samples.map { Tombstone(sample: $0.reference, deleted: .now) }))
  }

  /// Creates a new destination, as after a restart.
  func destination(at place: HarnessPlace? = nil) throws -> Harness.Place {
    let place = place ?? self.place
    let environment = DestinationEnvironment(
      record: RecordReader(store, filter: .everything, zone: zone, sendsNames: sendsNames),
      secrets: SecretStore(environment: harness.secrets),
      stateFolder: directory.path("state"))
    return try Harness.Place(
      try DestinationSettings(
        name: place.name, try harness.settings(place).merging(settings) { $1 }, of: Harness.Place.description),
      in: environment)
  }

  /// Delivers pending changes with a new courier and a new destination, as after a restart.
  @discardableResult
  func deliver(
    at place: HarnessPlace? = nil, policy: RetryPolicy = quick,
    observe: @escaping @Sendable (CourierEvent) -> Void = { _ in }
  ) async throws -> CourierReport {
    try await deliver(to: try destination(at: place), policy: policy, observe: observe)
  }

  @discardableResult
  func deliver(
    to destination: some Destination, policy: RetryPolicy = quick,
    observe: @escaping @Sendable (CourierEvent) -> Void = { _ in }
  ) async throws -> CourierReport {
    let courier = Courier(
      to: destination, named: consumer, from: store, policy: policy,
      deadLetters: DeadLetters(path: directory.path("refused.jsonl")), sendsNames: sendsNames, observe: observe)
    let result: Result<CourierReport, any Error>
    do { result = .success(try await courier.run()) } catch { result = .failure(error) }
    await destination.close()
    return try result.get()
  }

  /// Compares the contents of the place with the expected contents.
  ///
  /// - Parameters:
  ///   - deleted: The samples that were deleted. A place that can't delete still has them.
  ///   - mayRepeat: Whether an at-least-once destination may have duplicates, because something went wrong.
  func expectContents(
    deleted: some Collection<Sample> = [], added: [Sample] = [], mayRepeat: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let gone = try destination().capabilities.deletes ? Set(deleted.map(\.uuid)) : []
    let expected = try harness.expected(samples.filter { !gone.contains($0.uuid) } + added).sorted()
    let found = try await harness.contents(of: place).sorted()
    if mayRepeat, Harness.Place.description.repetition == .atLeastOnce {
      #expect(Set(found) == Set(expected), sourceLocation: sourceLocation)
    } else {
      #expect(found == expected, sourceLocation: sourceLocation)
    }
  }

  /// Returns all unencrypted bytes sent to the place and the content of the files in its folder.
  func told() throws -> [UInt8] {
    var bytes = proxy?.sent ?? []
    let files = FileManager.default.enumerator(atPath: place.folder)?.compactMap { $0 as? String } ?? []
    for file in files {
      bytes += Array(FileManager.default.contents(atPath: "\(place.folder)/\(file)") ?? Data())
    }
    return bytes
  }

  /// Starts a delivery whose task is cancelled when the closure that `arm` receives is called.
  ///
  /// - Returns: Whether the delivery was cancelled before everything was delivered.
  func deliverAndKill(
    _ destination: @Sendable (@escaping @Sendable () -> Void) throws -> some Destination,
    arm: (@escaping @Sendable () -> Void) -> Void
  ) async throws -> Bool {
    let box = KillSwitch()
    let place = try destination { box.kill() }
    arm { box.kill() }
    let task = box.start { try await deliver(to: place) }
    do {
      _ = try await task.value
      return false
    } catch is CancellationError {
      return true
    } catch let error as StoreError where task.isCancelled {
      // A write of the store that was cancelled.
      _ = error
      return true
    }
  }
}

/// A handle that cancels a task and can be passed around before the task exists.
private final class KillSwitch: Sendable {
  private let task = Mutex<Task<CourierReport, any Error>?>(nil)

  func start(_ body: @escaping @Sendable () async throws -> CourierReport) -> Task<CourierReport, any Error> {
    task.withLock { task in
      let started = Task(operation: body)
      task = started
      return started
    }
  }

  func kill() { task.withLock { $0?.cancel() } }
}

/// A destination that has its own delivery cancelled, some way into it.
struct KilledDestination<Place: Destination>: Destination {
  static var description: DestinationDescription { Place.description }
  let place: Place
  /// The number of deliveries before the cancelled delivery.
  let deliveries: Int
  /// The number of task yields before the cancellation.
  let yields: Int
  let kill: @Sendable () -> Void
  private let count = Counter()

  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  init(_ place: Place, after deliveries: Int, yields: Int, kill: @escaping @Sendable () -> Void) {
    (self.place, self.deliveries, self.yields, self.kill) = (place, deliveries, yields, kill)
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    self.init(try Place(settings, in: environment), after: 0, yields: 0) {}
  }

  var capabilities: DestinationCapabilities { place.capabilities }
  func check() async throws { try await place.check() }
  func close() async { await place.close() }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    guard count.value.add(1, ordering: .relaxed).oldValue == deliveries else {
      return try await place.deliver(batch, key: key)
    }
    async let killed: Void = {
      for _ in 0..<yields { await Task.yield() }
      kill()
    }()
    let delivery = try await place.deliver(batch, key: key)
    await killed
    return delivery
  }
}
