import OperatingSystem
import SQLiteFiles

/// Runs some work for as long as what it depends on stays the same, and begins anew when that has changed.
///
/// It is looked whether anything has changed when a process writes to the database that would say so, when ``Reloads`` ask
/// for it, and now and then without any hint, for file systems that report nothing.
struct Supervision<State: Equatable & Sendable>: Sendable {
  /// The path of the one that other processes change the state in.
  let database: String
  let reloads: Reloads
  var clock: any Clock<Duration> = ContinuousClock()
  /// What the work depends on; `nil` where that cannot be told now, which is no change.
  let state: @Sendable () async -> State?

  /// From the first write of a transaction to its end, as a rule.
  private static var transaction: Duration { .milliseconds(100) }
  /// Between two looks when it is written to all the time, and where nobody tells that it is.
  private static var spacing: Duration { .seconds(2) }
  /// After a request: many of them do not interrupt the work all the time.
  private static var rest: Duration { .seconds(1) }
  /// Between two looks without a hint.
  private static var longest: Duration { .seconds(10) }

  /// Until the task is cancelled. Work that ends by itself begins again with the next change.
  func run(_ work: @escaping @Sendable (State?) async -> Void) async {
    var known = await state()
    while !Task.isCancelled {
      let before = known
      known = await withTaskGroup(of: State?.self) { group in
        group.addTask {
          await work(before)
          return nil
        }
        addLooks(at: before, to: &group)
        defer { group.cancelAll() }
        for await next in group { if let next { return next } }
        return before
      }
    }
  }

  /// Tasks of which one returns the state that is another than `before`, and all others `nil` when they are cancelled.
  private func addLooks(at before: State?, to group: inout TaskGroup<State?>) {
    // Each is the pauses after which it is looked: one look after the other, whoever asks for them.
    let (looks, look) = AsyncStream.makeStream(of: [Duration].self, bufferingPolicy: .bufferingNewest(1))
    // All before the first look, so that no change is missed.
    let requests = reloads.hints()
    let writes = FileActivity.hints(of: SQLiteFile(database).log, pausing: Self.spacing)
    group.addTask {
      for await _ in requests { look.yield([Self.rest]) }
      return nil
    }
    if let writes {
      group.addTask {
        // The log is written before its transaction counts, which a disk may hold up.
        for await _ in writes { look.yield([Self.transaction, Self.spacing]) }
        return nil
      }
    }
    let pause = writes == nil ? Self.spacing : Self.longest
    group.addTask {
      repeat { look.yield([.zero]) } while (try? await clock.sleep(for: pause)) != nil
      return nil
    }
    group.addTask {
      for await pauses in looks {
        for pause in pauses {
          guard (try? await clock.sleep(for: pause)) != nil else { return nil }
          if let now = await state(), now != before { return now }
        }
      }
      return nil
    }
  }
}
