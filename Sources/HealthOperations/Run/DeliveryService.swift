import Destinations
import Foundation
import HealthStore
import OperatingSystem
import ServiceLifecycle
import Synchronization

/// What happens to a delivery that goes on.
public enum DeliveryEvent: Sendable {
  /// It has begun.
  case began
  /// An attempt failed, or the destination refused something; see `CourierEvent`.
  case courier(CourierEvent)
  /// It has ended, and begins again after the pause.
  case ended(any Error, pause: Duration)
  /// The settings cannot be read: those from before stay in force.
  case unreadableSettings(any Error)
}

/// Delivers to every destination of the settings file for as long as it runs: as soon as something happens in the store, but
/// for those that an automation delivers to in its time. A
/// destination that is paused, resumed, removed or to be delivered again, or changed in the file when ``Reloads`` says so, is
/// so within seconds.
///
/// A service to be run in a group. Its graceful shutdown ends deliveries where they are; nothing is lost.
///
/// ```swift
/// import ServiceLifecycle
///
/// func deliver(_ home: Home, _ store: HealthStore) async throws {
///   try await DeliveryService(home, store, reloads: Reloads()) { name, event in print(name, event) }.run()
/// }
/// ```
public struct DeliveryService: Service {
  /// Is told of each destination one thing after the other, and of several at once.
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
    /// Consumers.
    var paused: Set<String>
    /// Of ``PositionWatch``.
    var revision: Int
    /// Numbers are made anew when they are others.
    var settings: AnalysisSettings
  }

  public func run() async throws {
    let sections = LastReadable<[DestinationSection]>([])
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
            // Also of an automation that is left out: when it delivers is not known then.
            let working = Set(automations.map(\.name))
            let timed = automations.timedDestinations.union(
              file.destinationNames.filter { !working.isSuperset(of: file.automations(deliveringTo: $0)) })
            // One that is being edited goes on as it was.
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

  /// Until the task is cancelled, or it is paused or removed.
  ///
  /// - Parameter isPaused: whether that is known, so that it is noticed when it is resumed.
  private func deliver(_ section: DestinationSection, isPaused: Bool) async {
    var backOff = BackOff(first: .seconds(5), longest: Self.longestPause)
    // Looked for more often, and told once: nothing outside has to be spared.
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
          // Perhaps it is resumed before anybody has noticed that it was paused.
          try? await clock.sleep(for: .seconds(1))
          continue
        case .busy, .settings, .keeps, nil: break
        }
        if case .consumerChanged? = error as? StoreError {
          // It is to be delivered again, or was removed: the next attempt finds out.
          try? await clock.sleep(for: .seconds(1))
          continue
        }
        if let error = error as? StoreError, error.isOutOfRoom {
          // It has gone on meanwhile.
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

/// Notices what other processes do to the positions of destinations: one is removed, goes back, or is asked to be delivered
/// again. That a position goes on is nothing new.
final class PositionWatch: Sendable {
  private struct State {
    var positions: [String: Anchor] = [:]
    var revision = 0
  }

  private let state = Mutex(State())

  /// Another number each time that something has been done since the last call.
  ///
  /// - Parameter found: of all consumers, by name.
  func revision(of found: [String: Anchor]) -> Int {
    state.withLock { state in
      // A request that is gone has been dealt with.
      let isLess = state.positions.contains { name, anchor in
        found[name].map { $0 < anchor } ?? !Resynchronization.isRequest(name)
      }
      // It stays until a delivery that begins has dealt with it, also where the position itself was never seen before.
      let isAsked = found.keys.contains { Resynchronization.isRequest($0) && state.positions[$0] == nil }
      if isLess || isAsked { state.revision += 1 }
      state.positions = found
      return state.revision
    }
  }
}
