import Foundation
import NIOConcurrencyHelpers

/// A runner of histories that finds the shortest part of a history that still fails.
struct Trial: Sendable {
  var wire = Wire.ndjson
  var checks = Feed.Checks()
  let templates: [Machine.Copy]

  init(wire: Wire = .ndjson, checks: Feed.Checks = Feed.Checks()) throws {
    self.wire = wire
    self.checks = checks
    templates = try Machine.templates(4)
  }

  /// Returns what went wrong in a history, or `nil` if it succeeds.
  func failure(_ history: History) async -> String? {
    do {
      let machines = try templates.prefix(history.machines).map(Machine.init)
      let fleet = Fleet(machines, world: World(seed: history.seed), wire: wire, checks: checks)
      for step in history.steps { try await fleet.run(step) }
      try await fleet.settle(seed: history.seed)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Removes steps as long as the rest still fails: first half of them, then a quarter, and so on down to single
  /// steps.
  func shrunk(_ history: History) async -> History {
    var shortest = history
    var size = max(1, history.steps.count / 2)
    while true {
      var start = 0
      var hasShrunk = false
      while start < shortest.steps.count {
        var shorter = shortest
        shorter.steps.removeSubrange(start..<min(start + size, shorter.steps.count))
        if await failure(shorter) != nil {
          shortest = shorter
          hasShrunk = true
        } else {
          start += size
        }
      }
      if size == 1, !hasShrunk { return shortest }
      size = max(1, size / 2)
    }
  }

  /// Returns the first failing history among the given seeds, or `nil` if none fails. Histories run in parallel.
  func failing(among seeds: Range<UInt64>) async -> History? {
    let workers = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
    let lowest = NIOLockedValueBox<UInt64?>(nil)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<workers {
        group.addTask {
          for seed in seeds where seed % workers == worker {
            if let found = lowest.withLockedValue(\.self), found < seed { return }
            guard await failure(History(seed: seed)) != nil else { continue }
            return lowest.withLockedValue { $0 = min($0 ?? seed, seed) }
          }
        }
      }
    }
    return lowest.withLockedValue(\.self).map { History(seed: $0) }
  }

  /// Returns the seed, the reason, and the shortest failing part with a step on each line.
  func report(_ failing: History) async -> String {
    let shortest = await shrunk(failing)
    let reason = await failure(shortest) ?? "nothing, the second time"
    let steps = shortest.steps.map { "  \($0)" }.joined(separator: "\n")
    return "\(wire.name), seed \(failing.seed), \(failing.machines) machines: \(reason)\n\(steps)"
  }
}
