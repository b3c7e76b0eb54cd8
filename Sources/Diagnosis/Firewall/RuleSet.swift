/// The rules of a packet filter for incoming packets: base chains and the chains they jump to.
struct RuleSet: Hashable, Sendable {
  enum Answer: Hashable, Sendable {
    case yes, no
    /// The answer depends on something that is unknown here.
    case maybe
  }

  enum Action: Hashable, Sendable {
    case accept, drop
    /// The rule only counts, logs or marks, and the next rule is tried.
    case proceed
    case jump(String), goto(String)
    case leave
    /// A rule of an unknown kind.
    case unknown
  }

  struct Rule: Hashable, Sendable {
    var conditions: [Condition]
    var action: Action
  }

  struct BaseChain: Hashable, Sendable {
    var name: String
    var acceptsByDefault: Bool
  }

  enum Verdict: Hashable, Sendable {
    case open, closed
    /// The result depends on rules that are not understood.
    case unsure
  }

  /// The base chains in the order in which a packet passes them; all must accept the packet.
  var bases: [BaseChain] = []
  var chains: [String: [Rule]] = [:]

  func verdict(on packet: Packet) -> Verdict {
    let verdicts = bases.map { verdict(of: $0, on: packet) }
    if verdicts.contains(.closed) { return .closed }
    return verdicts.contains(.unsure) ? .unsure : .open
  }

  /// Returns the first base chain that does not let the packet through.
  func obstacle(to packet: Packet) -> BaseChain? {
    bases.first { verdict(of: $0, on: packet) != .open }
  }

  private func verdict(of base: BaseChain, on packet: Packet) -> Verdict {
    var walk = Walk(chains: chains, packet: packet)
    let accepts = walk.run(base.name, isCertain: true) ?? base.acceptsByDefault
    if accepts { return walk.mayHaveDropped ? .unsure : .open }
    return walk.mayHaveAccepted ? .unsure : .closed
  }
}

/// A traversal of the chains by a packet.
private struct Walk {
  let chains: [String: [RuleSet.Rule]]
  let packet: Packet
  var mayHaveAccepted = false
  var mayHaveDropped = false
  private var depth = 0
  private var steps = 0

  /// The maximum depth of jumps, as in the kernel.
  private static let maximumDepth = 16
  private static let maximumSteps = 100_000

  init(chains: [String: [RuleSet.Rule]], packet: Packet) {
    self.chains = chains
    self.packet = packet
  }

  /// Returns whether the packet is certainly accepted; nil if the end of the chain is reached. If it is uncertain
  /// whether the packet gets here, only notes what could happen to it.
  mutating func run(_ chain: String, isCertain: Bool) -> Bool? {
    guard depth < Self.maximumDepth else { return nil }
    depth += 1
    defer { depth -= 1 }
    for rule in chains[chain] ?? [] {
      steps += 1
      guard steps < Self.maximumSteps else { return nil }
      let answer = rule.answer(for: packet)
      if answer == .no { continue }
      let isCertain = isCertain && answer == .yes
      switch rule.action {
      case .proceed: continue
      case .unknown:
        mayHaveAccepted = true
        mayHaveDropped = true
      case .leave: if isCertain { return nil }
      case .accept:
        if isCertain { return true }
        mayHaveAccepted = true
      case .drop:
        if isCertain { return false }
        mayHaveDropped = true
      case .jump(let target), .goto(let target):
        if let decision = run(target, isCertain: isCertain) { return decision }
        if case .goto = rule.action, isCertain { return nil }
      }
    }
    return nil
  }
}

extension RuleSet.Rule {
  fileprivate func answer(for packet: Packet) -> RuleSet.Answer {
    var result = RuleSet.Answer.yes
    for condition in conditions {
      switch condition.answer(for: packet) {
      case .no: return .no
      case .maybe: result = .maybe
      case .yes: continue
      }
    }
    return result
  }
}
