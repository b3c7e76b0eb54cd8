import OperatingSystem
import SQLiteFiles

/// Runs some work for as long as what it depends on stays the same, and begins anew when that has changed.
///
/// It looks for a change when a process writes to the database that would say so, when ``Reloads`` ask for it, and now and
/// then without any hint, for file systems that report nothing.
struct Supervision<State: Equatable & Sendable>: Sendable {
  /// The path of the database in which other processes change the state.
  let database: String
  let reloads: Reloads
  var clock: any Clock<Duration> = ContinuousClock()
  /// What the work depends on; `nil` where that cannot be told now, which is no change.
  let state: @Sendable () async -> State?

  /// From the first write of a transaction to its end, as a rule.
  private static var transaction: Duration { .milliseconds(100) }
  /// Between two looks when there are hints all the time, after work was begun anew, and where the kernel cannot watch.
  private static var spacing: Duration { .seconds(2) }
  /// Between two looks without a hint.
  private static var longest: Duration { .seconds(10) }

  /// Until the task is cancelled. Work that ends by itself begins again with the next change.
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

  /// Adds tasks: one returns the first state that differs from `before`, the others `nil` when they are cancelled.
  ///
  /// - Parameter rest: before the first look. Work that changes by itself what it depends on is not begun anew all the time.
  private func addLooks(at before: State?, after rest: Duration, to group: inout TaskGroup<State?>) {
    let (hints, hint) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    // Both before the first look, so that no change is missed.
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
        // The log is written before its transaction counts, which a disk may hold up.
        for pause in [Self.transaction, Self.spacing] {
          guard (try? await clock.sleep(for: pause)) != nil else { return nil }
          if let now = await state(), now != before { return now }
        }
      }
      return nil
    }
  }
}
