import TestSupport

/// A sequence of events on machines that hold the same person's record.
struct History: Sendable {
  var seed: UInt64
  var machines: Int
  var steps: [Step]

  /// The kinds of events that may occur.
  struct Kinds: Sendable {
    /// Whether files of stores are copied and restored.
    var copies = true
    /// Whether tombstones are pruned.
    var pruning = true
    /// Whether batches arrive twice, late or not at all, and tokens get lost.
    var faults = true
  }

  /// - Parameter machines: The number of machines, or `nil` for two to four.
  init(seed: UInt64, kinds: Kinds = Kinds(), machines: Int? = nil) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    let some = random.pick([2, 2, 2, 3, 3, 4])
    let machines = machines ?? some
    self.machines = machines
    steps = (0..<Int.random(in: 5...30, using: &random)).map { _ in
      Self.step(&random, machines: machines, kinds: kinds)
    }
  }

  private static func step(_ random: inout SeededGenerator, machines: Int, kinds: Kinds) -> Step {
    let machine = Int.random(in: 0..<machines, using: &random)
    let others = (0..<machines).filter { $0 != machine }
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<20: return .pull(pull(&random, into: machine, others: others, machines: machines, kinds: kinds))
    case 20...21 where kinds.faults:
      return .replay(
        machine: machine, from: random.pick(others), selection: Int.random(in: 0..<5, using: &random),
        age: Int.random(in: 0...6, using: &random))
    case 22 where kinds.faults:
      return .foreignToken(
        machine: machine, from: random.pick(others), other: Int.random(in: 0..<machines, using: &random),
        selection: Int.random(in: 0..<5, using: &random))
    case 23...24 where kinds.pruning:
      return .prune(
        machine: machine, before: random.oneIn(3) ? nil : Int64.random(in: 0...1000, using: &random))
    case 25...26 where kinds.copies:
      return .copy(machine: machine)
    case 27...28 where kinds.copies:
      return .restore(machine: machine, copy: Int.random(in: 0..<4, using: &random))
    case 29 where kinds.copies: return .reopen(machine: machine)
    case 30 where kinds.copies: return .takeTurns(machine: machine)
    default: return write(&random, machine: machine)
    }
  }

  /// Returns a random step that changes a store's content.
  private static func write(_ random: inout SeededGenerator, machine: Int) -> Step {
    func samples(_ count: Int) -> [Int] {
      (0..<count).map { _ in Int.random(in: 0..<24, using: &random) }
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2:
      return .delete(machine: machine, samples: samples(2), seconds: Int64.random(in: 0...1000, using: &random))
    case 3: return .deleteHour(machine: machine, of: Int.random(in: 0..<24, using: &random))
    case 4, 5:
      return .drift(
        machine: machine, day: Int.random(in: 0..<2, using: &random), value: Int.random(in: 0..<3, using: &random),
        readAt: 1_718_100_000 + Int64.random(in: 0..<5, using: &random))
    case 6, 7:
      // An import: all records in the display unit of that day.
      return .add(
        machine: machine, samples: Array(0..<Int.random(in: 1...10, using: &random)),
        spelling: Int.random(in: 0..<3, using: &random))
    default:
      return .add(
        machine: machine, samples: samples(Int.random(in: 1...5, using: &random)),
        spelling: Int.random(in: 0..<3, using: &random))
    }
  }

  private static func pull(
    _ random: inout SeededGenerator, into machine: Int, others: [Int], machines: Int, kinds: Kinds
  ) -> PullStep {
    var pull = PullStep(
      into: machine, from: random.pick(others), pageSize: Int.random(in: 1...8, using: &random))
    pull.selection = Int.random(in: 0..<5, using: &random)
    pull.bound = Int.random(in: 0..<4, using: &random)
    pull.isFull = random.oneIn(10)
    if random.oneIn(3) { pull.pages = Int.random(in: 1...3, using: &random) }
    if kinds.faults {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: pull.fault = .cut(after: Int.random(in: 0...3, using: &random))
      case 2: pull.fault = .crash(at: Int.random(in: 0...3, using: &random))
      case 3: pull.fault = .twice(at: Int.random(in: 0...3, using: &random))
      default: break
      }
    }
    if random.oneIn(4) {
      pull.meanwhile = (0..<Int.random(in: 1...2, using: &random)).map { _ in
        let writer = Int.random(in: 0..<machines, using: &random)
        return kinds.pruning && random.oneIn(6)
          ? .prune(machine: writer, before: nil) : write(&random, machine: writer)
      }
    }
    return pull
  }
}
