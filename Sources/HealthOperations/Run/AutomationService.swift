import Foundation
import HealthStore
import OperatingSystem
import ServiceLifecycle

/// The events of an automation.
public enum AutomationEvent: Sendable {
  /// The automation begins to run.
  case began(AutomationOccasion)
  /// The automation was run successfully.
  ///
  /// - Parameter result: a phrase for a person.
  case ended(result: String)
  /// The automation failed, or the service cannot wait for its trigger.
  case failed(any Error, pause: Duration?)
  /// The settings cannot be read. The previous settings stay in force.
  case unreadableSettings(any Error)
}

/// A service that runs the automations of the settings file. An automation that is paused, resumed, or changed in the
/// file when ``Reloads`` requests it, takes effect within seconds. No automation runs twice at once, even in several
/// processes.
///
/// During a graceful shutdown, running automations are interrupted and run again at the next start.
public struct AutomationService: Service {
  /// A function that is called with events: one after the other for each automation, concurrently for several.
  public typealias Listener = @Sendable (_ automation: String, AutomationEvent) -> Void

  private let context: AutomationContext
  private let reloads: Reloads
  private let time: AutomationClock
  private let words: @Sendable (any Error) -> String
  private let tell: Listener

  /// Creates the service.
  ///
  /// - Parameter words: makes a sentence of an error, for the state of an automation and the audit log.
  public init(
    _ context: AutomationContext, reloads: Reloads, words: @escaping @Sendable (any Error) -> String,
    tell: @escaping Listener
  ) {
    self.init(context, reloads: reloads, time: AutomationClock(), words: words, tell: tell)
  }

  init(
    _ context: AutomationContext, reloads: Reloads, time: AutomationClock,
    words: @escaping @Sendable (any Error) -> String = { "\($0)" }, tell: @escaping Listener
  ) {
    (self.context, self.reloads, self.time, self.words, self.tell) = (context, reloads, time, words, tell)
  }

  private struct Dependencies: Equatable {
    var reloads: Int
    /// The activity names of paused automations.
    var paused: Set<String>
  }

  public func run() async throws {
    let known = LastValidValue<[Automation]>([])
    let supervision = Supervision(
      database: context.store.path, reloads: reloads, clock: time.clock
    ) { [reloads, store = context.store] in
      guard let paused = try? await store.activities.paused(beginning: Automation.activityPrefix) else {
        return nil as Dependencies?
      }
      return Dependencies(reloads: reloads.current, paused: paused)
    }
    await cancelWhenGracefulShutdown {
      await supervision.run { state in
        do {
          known.value = try await onThread { [home = context.home] _ in
            try Automation.readable(in: home)
          }
        } catch {
          tell("", .unreadableSettings(error))
        }
        await withTaskGroup(of: Void.self) { group in
          for automation in known.value where automation.isEnabled {
            guard state?.paused.contains(automation.activity) != true else { continue }
            group.addTask { await follow(automation) }
          }
        }
      }
    }
  }

  /// Runs the automation whenever there is a reason, until the task is cancelled.
  private func follow(_ automation: Automation) async {
    var watcher = automation.watcher(context, time, waits: true)
    var backOff = BackOff(first: .seconds(10), longest: .seconds(1800))
    var isHindered = false
    /// The state from before the automation was hindered.
    var before: ActivityState?
    while !Task.isCancelled {
      do {
        let pending = try await watcher.pending()
        if isHindered {
          try await context.store.activities.noteUnhindered(automation.activity, before: before)
          isHindered = false
          backOff.reset()
        }
        guard let occasion = pending else {
          try await watcher.wait()
          continue
        }
        tell(automation.name, .began(occasion))
        let takeBack = try await watcher.begins(occasion)
        do {
          let result = try await AutomationRun(automation, context).run(occasion, words: words)
          try await watcher.dealtWith(occasion, failure: nil)
          tell(automation.name, .ended(result: result))
          backOff.reset()
        } catch {
          if Task.isCancelled {
            try? await uncancelled(takeBack)
            return
          }
          try await watcher.dealtWith(occasion, failure: error)
          let goesOn = try await watcher.hasOther()
          let isTriedAgain = automation.trigger.kind.retries && !type(of: watcher).isFinal(error)
          // Without a pause, one that could not even begin would be due again at once.
          let isStillDue = try await context.store.activities.state(of: automation.activity)?.due != nil
          let pause = (isTriedAgain || isStillDue) && !goesOn ? backOff.next() : nil
          tell(automation.name, .failed(error, pause: pause))
          if let pause { try await time.clock.sleep(for: pause) }
        }
      } catch {
        if Task.isCancelled { return }
        // The trigger cannot be waited for: the folder is missing, the store is locked, or discovery does not work.
        if !isHindered { before = try? await context.store.activities.state(of: automation.activity) }
        isHindered = true
        let (pause, reason) = (backOff.next(), words(error))
        tell(automation.name, .failed(error, pause: pause))
        try? await context.store.activities.end(
          automation.activity, failure: reason, keepsDue: true, event: nil)
        try? await time.clock.sleep(for: pause)
      }
    }
  }
}

/// An operation that runs, once, the automations that have a reason now: due times, changes, crossed thresholds,
/// files. Machines that appear are noticed only by a running ``AutomationService``.
public struct DueAutomations: Sendable {
  private let context: AutomationContext
  private let time = AutomationClock()

  /// Creates an operation that reads the settings when it runs.
  public init(_ context: AutomationContext) { self.context = context }

  /// Runs the due automations one after the other; a failure does not stop the others. Throws `CancellationError`,
  /// and the errors of the settings or the store.
  ///
  /// - Parameter report: called with the outcome of each automation that was due.
  public func run(
    words: @Sendable (any Error) -> String,
    report: (Automation, Result<String, any Error>) throws -> Void
  ) async throws {
    let automations = try await onThread { [home = context.home] _ in
      try Automation.readable(in: home)
    }
    for automation in automations where automation.isEnabled {
      guard try await context.store.activities.state(of: automation.activity)?.paused == nil else { continue }
      var watcher = automation.watcher(context, time, waits: false)
      do {
        var done: Set<AutomationOccasion> = []
        while let occasion = try await watcher.pending(), done.insert(occasion).inserted {
          var (result, failure): (String, (any Error)?) = ("", nil)
          let takeBack = try await watcher.begins(occasion)
          do {
            result = try await AutomationRun(automation, context).run(occasion, words: words)
          } catch {
            if Task.isCancelled {
              try? await uncancelled(takeBack)
              throw CancellationError()
            }
            failure = error
          }
          try await watcher.dealtWith(occasion, failure: failure)
          try report(automation, failure.map { .failure($0) } ?? .success(result))
        }
      } catch {
        try Task.checkCancellation()
        try report(automation, .failure(error))
      }
    }
  }
}
