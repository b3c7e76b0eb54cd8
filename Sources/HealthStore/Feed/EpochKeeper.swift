import GRDB
import Synchronization

/// Sees to it that every number which one ``HealthStore`` gives out lies in an epoch that began while it had the file
/// open. Whose write began it does not matter, so that two processes that write in turns share one.
final class EpochKeeper: Sendable {
  private struct State {
    /// Began before the file was opened, perhaps before it was copied.
    var foreign: Epoch
    /// The highest counter that was seen.
    var highest: Int64
  }

  private let state: Mutex<State>

  init(_ db: Database) throws {
    state = Mutex(
      State(foreign: try Epoch.last(db), highest: try Schema.counter(db)))
  }

  /// To be told of every counter that is read, so that one that went back is noticed.
  func saw(_ counter: Int64) {
    state.withLock { $0.highest = max($0.highest, counter) }
  }

  /// Within the transaction that gives out `numbers`. One that is rolled back does no harm: the next begins an epoch.
  func cover(_ numbers: ClosedRange<Int64>, _ db: Database) throws {
    let last = try Epoch.last(db)
    let mayContinue = state.withLock { state in
      // Somebody put an older copy in place of the file's content.
      if numbers.lowerBound <= state.highest { state.foreign = last }
      state.highest = numbers.upperBound
      return last != state.foreign
    }
    if !mayContinue { try Epoch.begin(at: numbers.lowerBound, db) }
  }
}
