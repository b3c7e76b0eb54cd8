import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// The result of a ``Courier`` run.
public struct CourierReport: Hashable, Sendable {
  /// The number of samples and tombstones that the destination accepted.
  public var delivered = 0
  /// The number of samples and tombstones that the destination refused permanently.
  public var refused = 0
  /// The number of attempts that failed and were repeated.
  public var retries = 0
  /// The losses found at the destination, each with its remedy, as parts of sentences.
  public var losses: [String] = []

  /// Creates a report with the given counts.
  public init(delivered: Int = 0, refused: Int = 0, retries: Int = 0) {
    (self.delivered, self.refused, self.retries) = (delivered, refused, retries)
  }
}

/// A delivery of a store's changes to one destination, in batches of its size. Each change takes effect once, even
/// after failures.
///
/// ```swift
/// func deliver(_ store: HealthStore, to destination: some Destination) async throws {
///   let courier = Courier(to: destination, named: "folder:home", from: store)
///   let report = try await courier.run()
///   print(report.delivered, "delivered")
/// }
/// ```
///
/// The store keeps the courier's position in a ``FeedConsumer`` with the courier's name. The position moves past a
/// batch only when the destination has acknowledged all of it and refused samples are among the dead letters. If the
/// process is killed before that, the same batch is delivered again under the same key.
///
/// The audit log records the start of a delivery before the first sample leaves, and its end with the counts.
public struct Courier<Place: Destination>: Sendable {
  /// The kind and name of the destination, such as `mqtt:home`, which is also the name of its ``FeedConsumer``.
  public let name: String
  /// The name under which the store records the successes and failures of deliveries.
  private let account: String
  private let destination: Place
  private let store: HealthStore
  private let filter: SampleFilter
  private let policy: RetryPolicy
  private let deadLetters: DeadLetters?
  private let sendsNames: Bool
  private let shape: DeliveryShape?
  private let clock: any Clock<Duration>
  private let observe: @Sendable (CourierEvent) -> Void
  /// A lock that serializes delivery attempts with other work at the same place.
  package var turnstile = AsyncLock()

  /// Creates a courier.
  ///
  /// - Parameters:
  ///   - name: must be unique among running couriers.
  ///   - account: the name under which the store records the progress of deliveries; `name` by default.
  ///   - filter: selects what is delivered. If it differs from last time, newly included samples are delivered, and
  ///     excluded samples stay at the destination.
  ///   - deadLetters: if `nil`, refused samples are only counted.
  ///   - sendsNames: if `false`, the names of sources and devices are redacted (``NameRedaction``).
  ///   - shape: `nil` delivers the record unchanged.
  public init(
    to destination: Place, named name: String, account: String? = nil, from store: HealthStore,
    filter: SampleFilter = .everything,
    policy: RetryPolicy = RetryPolicy(), deadLetters: DeadLetters? = nil, sendsNames: Bool = true,
    shape: DeliveryShape? = nil,
    clock: any Clock<Duration> = ContinuousClock(), observe: @escaping @Sendable (CourierEvent) -> Void = { _ in }
  ) {
    self.destination = destination
    self.name = name
    self.account = account ?? name
    self.store = store
    self.filter = filter
    self.policy = policy
    self.deadLetters = deadLetters
    self.sendsNames = sendsNames
    self.shape = shape
    self.clock = clock
    self.observe = observe
  }

  /// Delivers the changes since the last run.
  ///
  /// - Parameters:
  ///   - known: the existing consumer to use; if `nil`, the consumer is looked up by name or created.
  ///   - follows: whether to continue with new changes until the task is cancelled.
  /// - Throws: ``CourierError`` if the destination doesn't accept a batch: nothing is lost, and the next run
  ///   continues there. `StoreError`. What was delivered before stays delivered.
  public func run(of known: FeedConsumer? = nil, follows: Bool = false) async throws -> CourierReport {
    let consumer = if let known { known } else { try await store.consumer(name, filter: filter) }
    var run = Run(policy)
    do {
      try await deliver(consumer.pages(ofAtMost: size, repeatable: true), of: consumer, &run, follows: follows)
      // An earlier failure is resolved: its changes have been delivered or no longer exist.
      if !Task.isCancelled {
        try await uncancelled { [store, account] in try await store.deliveries.noteNothingToDo(account) }
      }
      if follows {
        try await deliver(consumer.following(ofAtMost: size, repeatable: true), of: consumer, &run, follows: true)
      }
    } catch {
      let wasCancelled = error is CancellationError
      if let error = error as? CourierError {
        try await uncancelled { try await store.deliveries.noteFailure(error.reason, waiting: nil, account) }
      }
      if run.hasBegun {
        try await finish(
          wasCancelled ? .deliveryFinished : .deliveryFailed, run, reason: wasCancelled ? nil : "\(error)")
      }
      throw error
    }
    if run.hasBegun { try await finish(.deliveryFinished, run) }
    return run.report
  }

  /// The maximum number of changes in a page.
  private var size: Int { destination.capabilities.maximumChanges }

  private var detail: [String: String] { ["destination": name, "kind": Place.description.kind.rawValue] }

  private func finish(_ event: AuditEvent.Name, _ run: Run, reason: String? = nil) async throws {
    var detail = detail
    detail["count"] = String(run.report.delivered)
    if run.report.refused > 0 { detail["refused"] = String(run.report.refused) }
    detail["reason"] = reason
    try await uncancelled { [detail] in try await store.audit.record(AuditEvent(event, detail)) }
  }

  /// The state of one call of ``run(of:follows:)``.
  private struct Run {
    var report = CourierReport()
    var hasBegun = false
    var failures = 0
    var backOff: BackOff
    /// The counts last reported to the store. They are reported rarely, because each report is a commit.
    var noted = CourierReport()
    var lastNote: ContinuousClock.Instant?

    init(_ policy: RetryPolicy) { backOff = BackOff(first: policy.firstPause, longest: policy.longestPause) }
  }

  /// Reports the progress to the store: at the end, after failures, and otherwise every few seconds.
  private func note(_ run: inout Run, isLast: Bool) async throws {
    let (delivered, refused) = (run.report.delivered - run.noted.delivered, run.report.refused - run.noted.refused)
    guard delivered + refused > 0 else { return }
    let hasRetried = run.report.retries > run.noted.retries
    let isDue = run.lastNote.map { ContinuousClock.now - $0 > .seconds(5) } ?? true
    guard isLast || hasRetried || isDue else { return }
    try await uncancelled { try await store.deliveries.noteSuccess(delivered: delivered, refused: refused, account) }
    (run.noted, run.lastNote) = (run.report, .now)
  }

  private func deliver(
    _ pages: ConsumerPages, of consumer: FeedConsumer, _ run: inout Run, follows: Bool
  ) async throws {
    var iterator = pages.makeAsyncIterator()
    var next = try await iterator.next()
    while let page = next {
      // A delivery that cannot be recorded afterwards would be repeated again and again.
      try await store.requireRoom()
      if !run.hasBegun {
        try await store.audit.record(AuditEvent(.deliveryStarted, detail))
        run.hasBegun = true
      }
      // Reads the next page during the delivery; if that fails, the page is read again below.
      async let ahead = page.isLast ? nil : try? await consumer.ahead(of: page, ofAtMost: size)
      try await deliver(page, &run, follows: follows)
      if page.isLast {
        // A mark that cannot be left doesn't undo the delivery.
        try? await turnstile.pass { [destination] in
          try await within(.seconds(60), orThrow: CancellationError()) { try await destination.confirm(key(of: page)) }
        }
      }
      if let ahead = await ahead, !Task.isCancelled {
        next = try await consumer.commit(page, handingOut: ahead)
      } else {
        try await consumer.commit(page)
        next = nil
      }
      observe(.delivered(page.changes.samples.count + page.changes.tombstones.count))
      try await note(&run, isLast: page.isLast)
      if next == nil { next = try await iterator.next() }
    }
    try await note(&run, isLast: true)
  }

  // MARK: One page

  private func key(of page: ConsumerPage) -> DeliveryKey {
    DeliveryKey(description: "\(store.id.uuidString.lowercased())-\(String(page.key, radix: 16))")
  }

  private func deliver(_ page: ConsumerPage, _ run: inout Run, follows: Bool) async throws {
    var batch = DeliveryBatch(changes: page.changes, startsOver: page.startsOver)
    if !sendsNames { batch = try batch.withoutNames() }
    let key = key(of: page).description
    var unshaped: [RefusedSample] = []
    if let shape {
      let shaped = try await shape.applied(to: batch)
      (batch, unshaped) = (shaped.batch, shaped.refused)
    }
    if !destination.capabilities.deletes { batch = batch.withoutDeletions }
    // A batch that is refused as a whole is halved repeatedly; the next part is at the end of this array.
    var parts = [(batch: batch, suffix: "")]
    var budget = RefusalBudget()
    while var part = parts.popLast() {
      if part.batch.isEmpty { continue }
      // A single long sample may turn into many hourly values.
      if part.batch.count > destination.capabilities.maximumChanges,
        let (first, second) = part.batch.parts(byBit: part.suffix.utf8.count)
      {
        parts.append((second, part.suffix + "1"))
        parts.append((first, part.suffix + "0"))
        continue
      }
      let key = DeliveryKey(description: part.suffix.isEmpty ? key : "\(key)-\(part.suffix)")
      let (open, refused) = budget.divided(part.batch)
      try await setAside(refused, key, &run)
      if open.isEmpty { continue }
      part.batch = open
      do {
        let delivery = try await deliverUntilTaken(part.batch, key, &run, follows: follows)
        budget.note(delivery, of: part.batch)
        try await setAside(delivery.refused, key, &run)
        // A destination with daily values may refuse samples of an earlier batch.
        run.report.delivered += max(0, part.batch.count - delivery.refused.count)
      } catch DeliveryError.refused(let reason) {
        if let (first, second) = part.batch.parts(byBit: part.suffix.utf8.count) {
          parts.append((second, part.suffix + "1"))
          parts.append((first, part.suffix + "0"))
        } else if part.batch.startsOver {
          // Without starting over first, old data would mix with what follows.
          guard let (start, rest) = part.batch.startAlone else {
            throw CourierError.unusable(destination: name, reason: reason)
          }
          parts.append((rest, part.suffix + "1"))
          parts.append((start, part.suffix + "0"))
        } else {
          budget.noteRefusal(reason, of: part.batch)
          try await setAside(part.batch.refused(reason), key, &run)
        }
      }
    }
    // These come last because a page that fails is read again.
    try await setAside(unshaped, DeliveryKey(description: key), &run)
  }

  private func setAside(_ refused: [RefusedSample], _ key: DeliveryKey, _ run: inout Run) async throws {
    if refused.isEmpty { return }
    try await deadLetters?.add(refused, of: key)
    run.report.refused += refused.count
    observe(.refused(refused))
  }

  // MARK: Attempts

  private func deliverUntilTaken(
    _ batch: DeliveryBatch, _ key: DeliveryKey, _ run: inout Run, follows: Bool
  ) async throws -> Delivery {
    while true {
      do {
        let delivery = try await turnstile.pass { [destination, clock] in
          try await destination.attempt(batch, key: key, clock: clock)
        }
        run.failures = 0
        run.backOff.reset()
        return delivery
      } catch let error as DeliveryError {
        guard case .temporary(let reason, let retryAfter) = error else {
          if case .unusable(let reason) = error { throw CourierError.unusable(destination: name, reason: reason) }
          throw error
        }
        run.failures += 1
        run.report.retries += 1
        var pause = run.backOff.next(atLeast: min(retryAfter ?? .zero, policy.longestRetryAfter))
        if run.failures >= policy.tolerance {
          guard follows else { throw CourierError.gaveUp(destination: name, attempts: run.failures, reason: reason) }
          pause = max(pause, policy.rest)
        }
        try await store.deliveries.noteFailure(reason, waiting: Self.instant(after: pause), account)
        observe(.failed(reason: reason, pause: pause))
        try await clock.sleep(for: pause)
      }
    }
  }

  private static func instant(after pause: Duration) -> Timestamp {
    Timestamp(microseconds: Timestamp.now.microseconds + pause.components.seconds * 1_000_000)
  }
}
