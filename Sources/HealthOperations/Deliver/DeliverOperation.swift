import Destinations
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import OperatingSystem

/// An operation that delivers to one destination of the settings file.
///
/// ```swift
/// func deliver(_ home: Home) async throws {
///   let store = try home.openStore()
///   for section in try home.settings().destinations where section.common.isEnabled {
///     print(section.name, try await DeliverOperation(section, home: home, store: store).run().delivered)
///   }
/// }
/// ```
public struct DeliverOperation: Sendable {
  /// The destination's section of the settings file.
  public let section: DestinationSection
  private let home: Home
  let store: HealthStore
  private let policy: RetryPolicy
  private let observe: @Sendable (CourierEvent) -> Void
  private let progress: @Sendable (String) -> Void

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - observe: called on any thread with deliveries, failed attempts and refused changes.
  ///   - progress: called on any thread with a text that describes a long delivery to a person.
  public init(
    _ section: DestinationSection, home: Home, store: HealthStore, policy: RetryPolicy = RetryPolicy(),
    observe: @escaping @Sendable (CourierEvent) -> Void = { _ in },
    progress: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.section = section
    self.home = home
    self.store = store
    self.policy = policy
    self.progress = progress
    self.observe = observe
  }

  /// Delivers all changes that the destination does not have yet.
  ///
  /// - Parameter follows: continues to deliver changes until the task is cancelled.
  /// - Throws: ``DeliveryRefusal``, `CourierError`, `SettingsFileError`, `StoreError`.
  public func run(follows: Bool = false) async throws -> CourierReport {
    let state = try await store.deliveries.state(of: section.consumer)
    if state.paused != nil { throw DeliveryRefusal.paused(section.name) }
    return try await alone { context in
      do {
        let report = try await deliver(section.kind, context, follows: follows)
        try await forgetIfRemoved()
        return report
      } catch {
        try? await forgetIfRemoved()
        throw error
      }
    }
  }

  /// Checks whether the destination accepts deliveries. Throws `DeliveryError`, `SettingsFileError`.
  public func check() async throws {
    let context = try await context()
    func check<Place: Destination>(_ kind: Place.Type) async throws {
      let place = try await make(kind, context)
      do {
        let deadline = place.capabilities.deadline
        let late = DeliveryError.temporary(reason: "it did not answer within \(deadline)")
        try await within(deadline, orThrow: late) { try await place.check() }
      } catch {
        await place.close()
        throw error
      }
      await place.close()
    }
    try await check(section.kind)
  }

  /// Delivers refused changes again, if they are still in the store.
  ///
  /// - Throws: the errors of ``run(follows:)``. Changes accepted before the error no longer count as refused.
  public func retry() async throws -> CourierReport {
    try await alone { context in try await retry(section.kind, context) }
  }

  // MARK: Making it

  struct Context: Sendable {
    var filter: SampleFilter
    var environment: DestinationEnvironment
    var shape: DeliveryShape?
    var settings: AnalysisSettings

    var zone: ZoneRules { environment.record.zone }
    var basis: StatisticsBasis { StatisticsBasis(settings, in: zone, units: environment.record.units) }
  }

  private func context() async throws -> Context {
    let settings = try await store.settings.current()
    return context(in: try ZoneRules(homeOf: settings), settings)
  }

  func context(in zone: ZoneRules, _ settings: AnalysisSettings) -> Context {
    let named = TimeZone(identifier: zone.name) ?? .current
    let filter = section.common.filter(in: named)
    var environment = DestinationEnvironment(
      record: RecordReader(
        store, filter: filter, zone: zone, sendsNames: section.common.sendsNames,
        units: section.common.units),
      secrets: SecretStore(), stateFolder: "\(home.folder(of: section.name))/state")
    environment.progress = progress
    return Context(
      filter: filter, environment: environment, shape: DeliveryShape(section.common, environment.record),
      settings: settings)
  }

  func make<Place: Destination>(_ kind: Place.Type, _ context: Context) async throws -> Place {
    do {
      let settings = section.settings
      // The initializer may read secrets and certificates.
      return try await onThread { _ in try Place(settings, in: context.environment) }
    } catch let error as SettingsError {
      throw DeliveryRefusal.settings(section.name, error)
    }
  }

  /// Runs `body` while holding the destination's lock: only one process at a time delivers to a destination.
  private func alone<Value: Sendable>(_ body: (Context) async throws -> Value) async throws -> Value {
    let folder = home.folder(of: section.name)
    let lock = try await onThread { _ in
      try PrivateFile.makeDirectory(folder)
      return try FileLock(ifFree: "\(folder)/lock", .alone)
    }
    guard let lock else { throw DeliveryRefusal.busy(section.name) }
    do {
      let value = try await body(try await context())
      withExtendedLifetime(lock) {}
      return value
    } catch let error as DeliveryRefusal {
      // A removed destination must not leave an error in the store.
      switch error {
      case .removed, .keeps: throw error
      case .busy, .paused, .settings: break
      }
      try await store.deliveries.noteFailure("\(error)", waiting: nil, section.consumer)
      throw error
    }
  }

  // MARK: Delivering

  private func deliver<Place: Destination>(
    _ kind: Place.Type, _ context: Context, follows: Bool
  ) async throws -> CourierReport {
    let place = try await make(kind, context)
    do {
      var consumer = try await begin(context)
      let turnstile = AsyncLock()
      let watch = PlaceWatch(place: place, section: section, store: store, turnstile: turnstile)
      var losses: [String] = []
      if !consumer.isNew, let loss = try await look(watch) {
        losses.append(loss)
        consumer = try await begin(context)
      }
      var report = try await renewNumbers(of: place, context)
      report.losses = losses
      // Read before `toForget`, because a request stores what to forget before the part to deliver again.
      let parts = try await RedeliveryRequests.pending(section.consumer, in: store)
      for part in try await RedeliveryRequests.toForget(section.consumer, in: store) {
        try await place.forget(from: part.filter.earliest)
        try await store.removeConsumer(part.consumer)
      }
      for again in parts {
        let filter = context.filter.intersection(again.filter)
        let courier = courier(to: place, again.consumer, filter, context)
        report += try await courier.run()
        try await store.removeConsumer(again.consumer)
      }
      var courier = courier(to: place, section.consumer, context.filter, context)
      courier.turnstile = turnstile
      report += try await follows ? follow(courier, of: consumer, watch) : courier.run(of: consumer)
      await place.close()
      return report
    } catch {
      await place.close()
      throw error
    }
  }

  /// Compares the place with what was delivered, unless everything is to be delivered again anyway.
  private func look<Place: Destination>(_ watch: PlaceWatch<Place>) async throws -> String? {
    guard try await RedeliveryRequests.toForget(section.consumer, in: store).isEmpty else { return nil }
    do {
      let loss = try await watch.look()
      if let loss { observe(.lost(loss)) }
      return loss
    } catch let error as CourierError {
      try await uncancelled { try await store.deliveries.noteFailure(error.reason, waiting: nil, section.consumer) }
      throw error
    }
  }

  /// Delivers changes and examines the place periodically, until one of them fails or the task is cancelled.
  private func follow<Place: Destination>(
    _ courier: Courier<Place>, of consumer: FeedConsumer, _ watch: PlaceWatch<Place>
  ) async throws -> CourierReport {
    try await withThrowingTaskGroup(of: CourierReport?.self) { group in
      group.addTask { try await courier.run(of: consumer, follows: true) }
      group.addTask {
        do {
          try await watch.run(clock: ContinuousClock()) { observe(.lost($0)) }
        } catch let error as CourierError {
          try await uncancelled { try await store.deliveries.noteFailure(error.reason, waiting: nil, section.consumer) }
          throw error
        }
        return nil
      }
      defer { group.cancelAll() }
      return (try await group.next() ?? nil) ?? CourierReport()
    }
  }

  /// Deletes from the destination what hpeer has put there of this record, if its kind supports that
  /// (`DestinationCapabilities.purges`).
  ///
  /// - Throws: `DeliveryError`, ``DeliveryRefusal``, `SettingsFileError`, `StoreError`.
  public func purge() async throws {
    func purge<Place: Destination>(_ kind: Place.Type, _ context: Context) async throws {
      let place = try await make(kind, context)
      do {
        guard place.capabilities.purges else { throw DeliveryRefusal.keeps(section.name) }
        let deadline = place.capabilities.deadline
        let late = DeliveryError.temporary(reason: "it did not answer within \(deadline)")
        try await within(deadline, orThrow: late) { try await place.purge() }
      } catch {
        await place.close()
        throw error
      }
      await place.close()
    }
    try await alone { context in try await purge(section.kind, context) }
  }

  /// Creates the destination's position if there is none, unless the destination was removed from the settings:
  /// otherwise the destination would receive everything again.
  ///
  /// Removing a destination deletes its section first and its position afterwards. This method therefore creates the
  /// position first and checks the section afterwards, so that one of the two notices the other.
  private func begin(_ context: Context) async throws -> FeedConsumer {
    let consumer = try await store.consumer(section.consumer, filter: context.filter)
    do {
      if try await isInSettings() { return consumer }
      throw DeliveryRefusal.removed(section.name)
    } catch {
      if consumer.isNew {
        try await uncancelled { [store, section] in _ = try await store.removeConsumer(section.consumer) }
      } else if error is SettingsFileError {
        // A section with a mistake, as while it is edited, does not mean that the destination was removed.
        return consumer
      }
      throw error
    }
  }

  private func isInSettings() async throws -> Bool {
    let settings = try await onThread { [home] _ in try home.readableSettings() }
    // A section with a mistake, as while it is edited, does not tell whether the destination was removed.
    if let mistake = settings.mistake(inDestination: section.name) { throw mistake }
    return settings.destination(section.name)?.consumer == section.consumer
  }

  /// Deletes what is left of a destination that was removed during a delivery: a request that is never handled would
  /// keep all later tombstones in the store.
  ///
  /// A destination without a section but with a position keeps its requests.
  private func forgetIfRemoved() async throws {
    try await uncancelled { [self] in
      if try await store.consumers().contains(where: { $0.name == section.consumer }) { return }
      // A section with a mistake, as while it is edited, does not mean that the destination was removed.
      guard (try? await isInSettings()) == false else { return }
      try await RedeliveryRequests.forget(section.consumer, in: store)
    }
  }

  func courier<Place: Destination>(
    to place: Place, _ name: String, _ filter: SampleFilter, _ context: Context
  ) -> Courier<Place> {
    Courier(
      to: place, named: name, account: section.consumer, from: store, filter: filter, policy: policy,
      deadLetters: home.deadLetters(of: section.name), sendsNames: section.common.sendsNames, shape: context.shape,
      observe: observe)
  }

  private func retry<Place: Destination>(_ kind: Place.Type, _ context: Context) async throws -> CourierReport {
    let place = try await make(kind, context)
    do {
      let redelivery = Redelivery(
        to: place, of: section.consumer, from: store, filter: context.filter,
        deadLetters: home.deadLetters(of: section.name), sendsNames: section.common.sendsNames, shape: context.shape)
      let report = try await redelivery.run()
      await place.close()
      return report
    } catch {
      await place.close()
      throw error
    }
  }
}

extension CourierReport {
  fileprivate static func += (sum: inout CourierReport, other: CourierReport) {
    sum.delivered += other.delivered
    sum.refused += other.refused
    sum.retries += other.retries
    sum.losses += other.losses
  }
}

/// The reasons on this machine's side why nothing is delivered to a destination.
public enum DeliveryRefusal: Error, Hashable, Sendable {
  /// The owner has paused the destination.
  case paused(String)
  /// The destination is no longer in the settings.
  case removed(String)
  /// Another process is delivering to the destination.
  case busy(String)
  /// The destination's settings contradict each other, or a secret cannot be read.
  case settings(String, SettingsError)
  /// This kind of destination does not support purging, because others may have written there.
  case keeps(String)
}

extension DeliveryRefusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .paused(let name): "\(name) is paused: `hpeer destination resume \(name)` lets it go on."
    case .removed(let name): "\(name) is not in config.toml any more: nothing is delivered to it."
    case .busy(let name): "Another hpeer delivers to \(name) now: let it finish."
    case .settings(let name, let error): "destination.\(name): \(error)"
    case .keeps(let name):
      "\(name) has files that others may have written into, so that nothing was taken away: delete them there, and give no "
        + "--purge."
    }
  }
}
