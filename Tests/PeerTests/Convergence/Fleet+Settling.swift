import HealthStore
import TestSupport

extension Fleet {
  /// Makes all machines pull from each other until nothing new arrives.
  ///
  /// - Throws: ``Failure`` unless all machines hold exactly what all of them together knew.
  func settle(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var states = try await self.states()
    let expected = Self.joined(states)
    try await exchange(&random, isFull: false)
    states = try await self.states()
    for (number, state) in states.enumerated() {
      let differences = state.differences(to: expected, except: forgotten)
      guard differences.isEmpty else { throw Failure("machine \(number) \(differences.joined(separator: ", "))") }
    }
    // Machines may differ in what somebody forgot, until they tell each other everything.
    let union = Self.joined(states)
    if states.contains(where: { $0 != union }) {
      try await exchange(&random, isFull: true)
      for (number, state) in try await self.states().enumerated() {
        let differences = state.differences(to: union)
        guard differences.isEmpty else {
          throw Failure("after full pulls, machine \(number) \(differences.joined(separator: ", "))")
        }
      }
    }
    try await requireWritten()
  }

  private func states() async throws -> [StoreState] {
    var states: [StoreState] = []
    for machine in machines { states.append(try await machine.store.state()) }
    return states
  }

  private static func joined(_ states: [StoreState]) -> StoreState {
    states.reduce(into: StoreState()) { $0.join($1) }
  }

  /// Exchanges changes between all machines. In a full exchange each machine first reads everything from every other,
  /// and then only news.
  private func exchange(_ random: inout SeededGenerator, isFull: Bool) async throws {
    let pairs = machines.indices.flatMap { into in machines.indices.map { Pair(into: into, from: $0) } }
      .filter { $0.into != $0.from }
    // Where a feed stood when it was pulled from last.
    var ends: [Pair: Anchor] = [:]
    for _ in 0..<(3 * machines.count) {
      var isAtRest = true
      for pair in pairs.shuffled(using: &random) {
        let end = try await machines[pair.from].store.feed.currentAnchor()
        if ends[pair] == end { continue }
        var pull = PullStep(into: pair.into, from: pair.from, pageSize: Int.random(in: 1...60, using: &random))
        pull.isFull = isFull && ends[pair] == nil
        try await self.pull(pull, isChecked: false)
        ends[pair] = end
        isAtRest = false
      }
      if isAtRest { return }
    }
    throw Failure("the machines never came to rest")
  }

  private struct Pair: Hashable {
    var into: Int
    var from: Int
  }
}
