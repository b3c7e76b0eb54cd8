import Testing

@testable import PeerDiscovery

@Suite("Which announcements are looked at")
struct ResolverSchedulerTests {
  private static let start = ContinuousClock.now
  private static let limits = ResolverScheduler<String>.Limits(
    open: 8, found: 6, perAddress: 3, remembered: 100, patience: .seconds(1))

  private static func later(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  /// Opens announcements until no more can be opened. Returns those opened, and those closed to make room.
  private static func openAll(
    _ ledger: inout ResolverScheduler<String>, at now: ContinuousClock.Instant = start
  ) -> (opened: [String], closed: [String]) {
    var turns: [(open: String, close: String?)] = []
    while let turn = ledger.next(at: now) { turns.append(turn) }
    return (turns.map(\.open), turns.compactMap(\.close))
  }

  @Test("in the order of their appearance, each once")
  func order() {
    var ledger = ResolverScheduler<String>(limits: Self.limits)
    for name in ["a", "b", "a", "c"] { ledger.announce(name) }
    let opened = Self.openAll(&ledger).opened
    #expect(opened == ["a", "b", "c"])
    #expect(!ledger.isQuiet)
    let kept = ["a", "b", "c"].filter { ledger.answered($0, from: $0) }
    #expect(kept.count == 3)
    #expect(ledger.isQuiet)
  }

  @Test("an address with a thousand services gets a few entries, and another is found all the same")
  func crowd() {
    var ledger = ResolverScheduler<Int>()
    for number in 0..<1000 { ledger.announce(number) }
    ledger.announce(1000)
    var found: [Int] = []
    while let turn = ledger.next(at: Self.start) {
      #expect(turn.close == nil)
      if ledger.answered(turn.open, from: turn.open == 1000 ? "real" : "liar") { found.append(turn.open) }
    }
    #expect(found == Array(0..<16) + [1000])
    #expect(ledger.passedOver == ["liar": 984])
  }

  @Test("names that nobody answers for lose their turns to those that wait")
  func silence() {
    var ledger = ResolverScheduler<String>(limits: Self.limits)
    for number in 0..<10 { ledger.announce("silent \(number)") }
    ledger.announce("real")
    let first = Self.openAll(&ledger).opened
    #expect(first.count == 8)
    ledger.hasNews(at: Self.start)
    #expect(ledger.nextTurn(at: Self.start) == Self.later(1))
    let (opened, closed) = Self.openAll(&ledger, at: Self.later(1))
    #expect(opened.contains("real"))
    #expect(closed.allSatisfy { $0.hasPrefix("silent") } && closed.count == opened.count)
    let isKept = ledger.answered("real", from: "10.0.0.1")
    #expect(isKept)
    // Nobody has had his second yet.
    let further = Self.openAll(&ledger, at: Self.later(1)).opened
    #expect(further == [])
  }

  @Test("nobody loses a turn while news comes in: the answer may be on its way")
  func busy() {
    var ledger = ResolverScheduler<String>(limits: Self.limits)
    for number in 0..<10 { ledger.announce("\(number)") }
    _ = Self.openAll(&ledger)
    ledger.hasNews(at: Self.later(5))
    let early = Self.openAll(&ledger, at: Self.later(5)).opened
    #expect(early == [])
    #expect(ledger.nextTurn(at: Self.later(5)) == Self.later(5) + .milliseconds(100))
    let late = Self.openAll(&ledger, at: Self.later(6)).opened
    #expect(late.prefix(2) == ["8", "9"])
  }

  @Test("one that avahi-daemon gave up is the first to make room")
  func unanswered() {
    var ledger = ResolverScheduler<String>(limits: Self.limits)
    for number in 0..<8 { ledger.announce("\(number)") }
    _ = Self.openAll(&ledger)
    ledger.unanswered("5")
    ledger.announce("real")
    let (opened, closed) = Self.openAll(&ledger)
    #expect(opened == ["real"] && closed == ["5"])
  }

  @Test("a preferred name comes first, whatever there is")
  func preference() {
    var ledger = ResolverScheduler<String>(limits: Self.limits)
    for number in 0..<200 { ledger.announce("\(number)") }
    #expect(ledger.passedOver == [nil: 100])
    for name in Self.openAll(&ledger).opened.prefix(6) { _ = ledger.answered(name, from: name) }
    ledger.announce("studio", isPreferred: true)
    let (opened, _) = Self.openAll(&ledger)
    #expect(opened.first == "studio")
    // All six places are taken, and so are those of its address.
    let isKept = ledger.answered("studio", from: "0")
    #expect(isKept)
  }

  @Test("what is withdrawn makes room")
  func withdrawal() {
    var ledger = ResolverScheduler<String>(limits: Self.limits)
    for number in 0..<4 { ledger.announce("\(number)") }
    _ = Self.openAll(&ledger)
    let kept = (0..<4).map { ledger.answered("\($0)", from: "a") }
    #expect(kept == [true, true, true, false])
    #expect(ledger.passedOver == ["a": 1])
    ledger.withdraw("3")
    #expect(ledger.passedOver == [:])
    ledger.withdraw("0")
    ledger.announce("4")
    let opened = Self.openAll(&ledger).opened
    #expect(opened == ["4"])
    let isKept = ledger.answered("4", from: "a")
    #expect(isKept)
    #expect(ledger.isQuiet)
  }

  @Test("an address that changes moves its entry")
  func move() {
    var ledger = ResolverScheduler<String>(limits: Self.limits)
    for name in ["a", "b", "c", "d"] { ledger.announce(name) }
    _ = Self.openAll(&ledger)
    var kept = ["a", "b", "c"].map { ledger.answered($0, from: "1") }
    kept.append(ledger.answered("a", from: "2"))
    kept.append(ledger.answered("d", from: "1"))
    #expect(kept == [true, true, true, true, true])
  }

  @Test("whatever happens, no limit is passed and nothing is lost", arguments: 1...20 as ClosedRange<UInt64>)
  func anything(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ledger = ResolverScheduler<Int>(limits: .init(open: 8, found: 6, perAddress: 3, remembered: 40))
    var open: Set<Int> = []
    for second in 0..<2000 {
      let key = Int.random(in: 0..<60, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: ledger.announce(key, isPreferred: key == 0)
      case 2:
        ledger.withdraw(key)
        open.remove(key)
      case 3 where open.contains(key): ledger.unanswered(key)
      case 4 where open.contains(key):
        if !ledger.answered(key, from: "\(key % 7)") { open.remove(key) }
      default: break
      }
      while let turn = ledger.next(at: Self.later(second)) {
        if let closed = turn.close {
          let wasOpen = open.remove(closed) != nil
          #expect(wasOpen, "seed \(seed)")
        }
        let isNew = open.insert(turn.open).inserted
        #expect(isNew, "seed \(seed)")
      }
      #expect(open.count <= 8 && ledger.passedOver.values.allSatisfy { $0 > 0 }, "seed \(seed)")
    }
  }
}

/// A SplitMix64 generator.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
