import Destinations
import Foundation
import HealthStore
import OperatingSystem
import ServiceLifecycle
import Synchronization

/// The events of a continuous delivery.
public enum DeliveryEvent: Sendable {
  /// The delivery has begun.
  case began
  /// An attempt failed, or the destination refused changes; see `CourierEvent`.
  case courier(CourierEvent)
  /// The delivery has failed, and begins again after the pause.
  case ended(any Error, pause: Duration)
  /// The settings cannot be read. The previous settings stay in force.
  case unreadableSettings(any Error)
}

/// A service that delivers to every destination of the settings file as soon as something changes in the store,
/// except for destinations that an automation delivers to at its own times. A destination that is paused, resumed,
/// removed, resent, or changed in the file when ``Reloads`` requests it, takes effect within seconds.
///
/// During a graceful shutdown, deliveries stop where they are; nothing is lost.
///
/// ```swift
/// import ServiceLifecycle
///
/// func deliver(_ home: Home, _ store: HealthStore) async throws {
///   try await DeliveryService(home, store, reloads: Reloads()) { name, event in print(name, event) }.run()
/// }
/// ```
public struct DeliveryService: Service {
  /// A function that is called with events: one after the other for each destination, concurrently for several.
  public typealias Listener = @Sendable (_ destination: String, DeliveryEvent) -> Void

  private let home: Home
  private let store: HealthStore
  private let reloads: Reloads
  private let tell: Listener
  private let clock: any Clock<Duration>

  public init(
    _ home: Home, _ store: HealthStore, reloads: Reloads, clock: any Clock<Duration> = ContinuousClock(),
    tell: @escaping Listener
  ) {
    self.home = home
    self.store = store
    self.reloads = reloads
    self.clock = clock
    self.tell = tell
  }

  private struct Dependencies: Equatable {
    var reloads: Int
    /// The consumer names of paused destinations.
    var paused: Set<String>
    /// The revision of a ``PositionWatch``.
    var revision: Int
    /// The analysis settings. Statistics are computed again when they change.
    var settings: AnalysisSettings
  }

  public func run() async throws {
    let sections = LastValidValue<[DestinationSection]>([])
    let watch = PositionWatch()
    let supervision = Supervision(database: store.path, reloads: reloads, clock: clock) { [reloads, store] in
      guard let standings = try? await store.deliveries.standings(), let settings = try? await store.settings.current()
      else { return nil as Dependencies? }
      return Dependencies(
        reloads: reloads.current, paused: standings.paused, revision: watch.revision(of: standings.positions),
        settings: settings)
    }
    await cancelWhenGracefulShutdown {
      await supervision.run { state in
        do {
          let (known, mistakes) = try await onThread { [home, last = sections.value] _ in
            let file = try home.readableSettings()
            let (automations, wrong) = Automation.readable(in: file)
            // Also for an automation with a mistake: its times are unknown, so its destinations are left to it.
            let working = Set(automations.map(\.name))
            let timed = automations.timedDestinations.union(
              file.destinationNames.filter { !working.isSuperset(of: file.automations(deliveringTo: $0)) })
            // A destination whose section has a mistake, as while it is edited, keeps its last valid settings.
            let kept = last.filter { file.mistake(inDestination: $0.name) != nil }
            let read = file.destinations.filter { $0.common.isEnabled && !timed.contains($0.name) }
            return (read + kept, file.mistakes + wrong)
          }
          sections.value = known
          for mistake in mistakes { tell("", .unreadableSettings(mistake)) }
        } catch {
          tell("", .unreadableSettings(error))
        }
        await withTaskGroup(of: Void.self) { group in
          for section in sections.value {
            let isPaused = state?.paused.contains(section.consumer) ?? false
            group.addTask { await deliver(section, isPaused: isPaused) }
          }
        }
      }
    }
  }

  /// The longest pause after a delivery that failed.
  private static let longestPause = Duration.seconds(900)

  /// Delivers until the task is cancelled, or the destination is paused or removed.
  ///
  /// - Parameter isPaused: whether ``Supervision`` knows of the pause, and so notices its end.
  private func deliver(_ section: DestinationSection, isPaused: Bool) async {
    var backOff = BackOff(first: .seconds(5), longest: Self.longestPause)
    // A full disk is reported once, and checked often because that costs no other machine anything.
    var (forRoom, lacksRoom) = (BackOff(first: .seconds(10), longest: .seconds(60)), false)
    while !Task.isCancelled {
      let elapsed = clock.stopwatch()
      do {
        tell(section.name, .began)
        let operation = DeliverOperation(section, home: home, store: store) { tell(section.name, .courier($0)) }
        _ = try await operation.run(follows: true)
        return
      } catch {
        if Task.isCancelled { return }
        switch error as? DeliveryRefusal {
        case .removed: return
        case .paused where isPaused: return
        case .paused:
          // It may be resumed before the supervision has noticed the pause.
          try? await clock.sleep(for: .seconds(1))
          continue
        case .busy, .settings, .keeps, nil: break
        }
        if case .consumerChanged? = error as? StoreError {
          // The destination is being resent or was removed; the next attempt finds out which.
          try? await clock.sleep(for: .seconds(1))
          continue
        }
        if let error = error as? StoreError, error.isOutOfRoom {
          // The delivery worked for a while in between.
          if elapsed() > .seconds(60) {
            (forRoom, lacksRoom) = (BackOff(first: .seconds(10), longest: .seconds(60)), false)
          }
          let pause = forRoom.next()
          if !lacksRoom { tell(section.name, .ended(error, pause: pause)) }
          lacksRoom = true
          try? await clock.sleep(for: pause)
          continue
        }
        lacksRoom = false
        // What went well for longer than any pause has nothing to do with failures before.
        if elapsed() > Self.longestPause { backOff.reset() }
        let pause = backOff.next()
        tell(section.name, .ended(error, pause: pause))
        try? await clock.sleep(for: pause)
      }
    }
  }
}

/// A detector of changes that other processes make to the positions of destinations: a position is removed, moves
/// back, or a redelivery is requested. A position that moves forward is not a change.
final class PositionWatch: Sendable {
  private struct State {
    var positions: [String: Anchor] = [:]
    var revision = 0
  }

  private let state = Mutex(State())

  /// Returns a number that increases whenever something has changed since the last call.
  ///
  /// - Parameter found: the positions of all consumers, by name.
  func revision(of found: [String: Anchor]) -> Int {
    state.withLock { state in
      // A request that is gone has been handled.
      let isLess = state.positions.contains { name, anchor in
        found[name].map { $0 < anchor } ?? !RedeliveryRequests.isRequest(name)
      }
      // A request stays until a delivery has handled it. It counts even if the own position was never seen.
      let isAsked = found.keys.contains { RedeliveryRequests.isRequest($0) && state.positions[$0] == nil }
      if isLess || isAsked { state.revision += 1 }
      state.positions = found
      return state.revision
    }
  }
}
