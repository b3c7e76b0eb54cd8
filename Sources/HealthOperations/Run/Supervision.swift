import OperatingSystem
import SQLiteFiles

/// Runs work for as long as the state that it depends on stays the same, and restarts it when that state has changed.
///
/// The state is checked when a process writes to the database, when ``Reloads`` request it, and periodically, for
/// file systems without change notifications.
struct Supervision<State: Equatable & Sendable>: Sendable {
  /// The path of the database in which other processes change the state.
  let database: String
  let reloads: Reloads
  var clock: any Clock<Duration> = ContinuousClock()
  /// A function that returns the state; `nil` if it cannot be read now, which counts as no change.
  let state: @Sendable () async -> State?

  /// The usual time from the first write of a transaction to its end.
  private static var transaction: Duration { .milliseconds(100) }
  /// The pause between two checks during constant hints, after a restart, and if file watching is unavailable.
  private static var spacing: Duration { .seconds(2) }
  /// The longest pause between two checks.
  private static var longest: Duration { .seconds(10) }

  /// Runs work until the task is cancelled. Work that ends by itself is started again at the next change.
  func run(_ work: @escaping @Sendable (State?) async -> Void) async {
    var (known, hasBegun) = (await state(), false)
    while !Task.isCancelled {
      let (before, isAnew) = (known, hasBegun)
      known = await withTaskGroup(of: State?.self) { group in
        group.addTask {
          await work(before)
          return nil
        }
        addLooks(at: before, after: isAnew ? Self.spacing : .zero, to: &group)
        defer { group.cancelAll() }
        for await next in group { if let next { return next } }
        return before
      }
      hasBegun = true
    }
  }

  /// Adds tasks to the group. One returns the first state that differs from `before`; the others `nil` when
  /// cancelled.
  ///
  /// - Parameter rest: the pause before the first check. It limits restarts of work that changes its own state.
  private func addLooks(at before: State?, after rest: Duration, to group: inout TaskGroup<State?>) {
    let (hints, hint) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    // Both subscriptions begin before the first check, so that no change is missed.
    let requests = reloads.hints()
    let writes = FileActivity.hints(of: SQLiteFile(database).log, pausing: Self.spacing)
    group.addTask {
      for await _ in requests { hint.yield() }
      return nil
    }
    if let writes {
      group.addTask {
        for await _ in writes { hint.yield() }
        return nil
      }
    }
    let pause = writes == nil ? Self.spacing : Self.longest
    group.addTask {
      repeat { hint.yield() } while (try? await clock.sleep(for: pause)) != nil
      return nil
    }
    group.addTask {
      guard (try? await clock.sleep(for: rest)) != nil else { return nil }
      for await _ in hints {
        // The log file is written before its transaction commits, which may take long, so the state is read twice.
        for pause in [Self.transaction, Self.spacing] {
          guard (try? await clock.sleep(for: pause)) != nil else { return nil }
          if let now = await state(), now != before { return now }
        }
      }
      return nil
    }
  }
}
