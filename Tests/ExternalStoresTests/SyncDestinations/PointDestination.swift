import ExternalStores
import Foundation
import Synchronization

/// A destination in the style of HealthPush's code that stores points by ID and fails on demand.
final class PointDestination: SyncDestination {
  struct State {
    var points: [UUID: HealthDataPoint] = [:]
    /// The number of points in each call.
    var calls: [Int] = []
    /// The number of requests to forget everything.
    var askedToForget = 0
    /// The number of requests for the time window.
    var askedForWindow = 0
  }

  let id = UUID()
  let name = "points"
  let isEnabled: Bool
  let capabilities: SyncCapabilities
  private let forgets: Bool
  private let start: Date
  private let state = Mutex(State())
  private let failure: @Sendable (_ call: Int) -> (any Error)?
  private let willSayWindow: @Sendable (_ call: Int) -> Void

  init(
    _ capabilities: SyncCapabilities, isEnabled: Bool = true, forgets: Bool = false, start: Date = .distantPast,
    failure: @escaping @Sendable (Int) -> (any Error)? = { _ in nil },
    willSayWindow: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    (self.capabilities, self.isEnabled, self.forgets) = (capabilities, isEnabled, forgets)
    (self.start, self.failure, self.willSayWindow) = (start, failure, willSayWindow)
  }

  var seen: State { state.withLock(\.self) }

  func queryWindow(lastSyncedAt: Date?, needsFullSync: Bool, now: Date) -> QueryWindow {
    let call = state.withLock { state in
      defer { state.askedForWindow += 1 }
      return state.askedForWindow
    }
    willSayWindow(call)
    return QueryWindow(start: needsFullSync ? start : now, end: now)
  }

  func sync(data: [HealthDataPoint], onProgress: (@Sendable (Int, Int) -> Void)?) async throws -> SyncStats {
    let (call, new) = state.withLock { state in
      state.calls.append(data.count)
      var new = 0
      for point in data {
        if point.deleted {
          state.points[point.id] = nil
        } else if state.points.updateValue(point, forKey: point.id) == nil {
          new += 1
        }
      }
      return (state.calls.count - 1, new)
    }
    // After it has taken them: the answer is what is lost.
    if let error = failure(call) { throw error }
    onProgress?(data.count, data.count)
    return SyncStats(processedCount: data.count, newCount: new)
  }

  func forgetAll() async throws {
    state.withLock { state in
      state.askedToForget += 1
      if forgets { state.points = [:] }
    }
  }

  func testConnection() async throws -> Bool { true }
}

/// A destination that implements no function that accepts data.
struct IdleDestination: SyncDestination {
  let id = UUID()
  let name = "idle"
  let isEnabled = true

  func testConnection() async throws -> Bool { true }
}
