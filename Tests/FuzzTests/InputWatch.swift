import Foundation
import Synchronization

/// A watchdog that ends the process, and names the input, if an input takes too much time or memory.
///
/// The watchdog stands in for libFuzzer's `-timeout` and `-rss_limit_mb`, because a target can't stop the code that
/// it calls.
final class InputWatch: Sendable {
  private struct State {
    var input: [UInt8]?
    var started = ContinuousClock.now
    var residentAtStart = 0
    var isOver = false
  }

  private let state = Mutex(State())
  private let target: String
  private let limit: Duration
  private let memory: Int

  /// - Parameters:
  ///   - limit: The time limit for an input.
  ///   - memory: The number of bytes by which the process may grow while the target runs.
  init(_ target: String, limit: Duration, memory: Int) {
    (self.target, self.limit, self.memory) = (target, limit, memory)
    let resident = Self.residentBytes()
    state.withLock { $0.residentAtStart = resident }
    Thread.detachNewThread { [self] in
      while look() { Thread.sleep(forTimeInterval: 0.05) }
    }
  }

  /// Records the start of an input. If the process dies, the input's file identifies it.
  func begin(_ input: [UInt8]) {
    state.withLock { ($0.input, $0.started) = (input, .now) }
  }

  /// Ends the watch.
  func end() { state.withLock { $0.isOver = true } }

  private func look() -> Bool {
    let resident = Self.residentBytes()
    let fault: (what: String, input: [UInt8])? = state.withLock { state in
      guard !state.isOver, let input = state.input else { return nil }
      if ContinuousClock.now - state.started > limit { return ("takes longer than \(limit)", input) }
      if resident - state.residentAtStart > memory { return ("or one before it takes \(resident >> 20) MiB", input) }
      return nil
    }
    guard let fault else { return state.withLock { !$0.isOver } }
    fatalError("\(target): an input \(fault.what): \(Data(fault.input).base64EncodedString())")
  }

  private static func residentBytes() -> Int {
    let statm = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = statm.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
