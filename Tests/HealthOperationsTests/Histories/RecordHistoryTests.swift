import Foundation
import TestSupport
import Testing

/// Random histories in which three machines import exports, receive data from apps, pull, delete, undo and exchange
/// files. In the end all machines must show the same record in every format, with nothing recorded missing and
/// nothing deleted back.
///
/// `HPEER_HISTORIES` is the number of histories, `HPEER_HISTORY_SEED` the first seed.
@Suite("Histories of a record") struct RecordHistoryTests {
  private static func number(_ variable: String, _ fallback: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? fallback
  }

  private static let seeds: [UInt64] = {
    let first = number("HPEER_HISTORY_SEED", 0)
    return Array(first..<first + number("HPEER_HISTORIES", 40))
  }()

  @Test("all machines agree, with each other and with what was said", arguments: 0..<2)
  func agree(half: Int) async throws {
    for seed in Self.seeds where seed % 2 == UInt64(half) {
      let history = RecordHistory(seed: seed)
      guard await Self.failure(history) != nil else { continue }
      let shortest = await Self.shrunk(history)
      let reason = await Self.failure(shortest) ?? "nothing, the second time"
      Issue.record("seed \(seed): \(reason)\n\(shortest.steps.map { "  \($0)" }.joined(separator: "\n"))")
    }
  }

  /// Returns what went wrong in a history, or `nil` if it succeeds.
  private static func failure(_ history: RecordHistory) async -> String? {
    do {
      let fleet = try await RecordFleet(RecordWorld(seed: history.seed))
      for step in history.steps { try await fleet.run(step) }
      try await fleet.settle(seed: history.seed)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Removes steps one by one as long as the rest still fails.
  private static func shrunk(_ history: RecordHistory) async -> RecordHistory {
    var shortest = history
    var index = 0
    while index < shortest.steps.count {
      var shorter = shortest
      shorter.steps.remove(at: index)
      if await failure(shorter) != nil { shortest = shorter } else { index += 1 }
    }
    return shortest
  }
}
