/// Schedules the resolvers of a browse session: which announcements are resolved, and in which order, so that a host
/// that announces a thousand services cannot keep any other from being found.
///
/// An announcement queues for a resolver. One that is not answered gives its resolver up after a second to one that is
/// queued, and one address holds no more than ``Limits/perAddress`` entries. A preferred announcement, whose name a
/// person asked for, goes first and is never skipped.
struct AnnouncementLedger<Key: Hashable> {
  struct Limits {
    /// Maximum concurrent resolvers. avahi-daemon allows a client 1,024 objects.
    var open = 512
    /// Services that are tracked at all; one machine makes one for each interface and IP version.
    var found = 256
    /// Maximum services listed for one address. A host needs one; more are a flood.
    var perAddress = 16
    /// Maximum announcements kept in any state; further ones are counted and dropped.
    var remembered = 4096
    var patience = Duration.seconds(1)
    /// Minimum time without any answer before a resolver is taken away: until then its answer may just be queued behind
    /// a thousand other messages.
    var pause = Duration.milliseconds(100)
  }

  private enum State: Hashable {
    case waiting, asking, silent
    case found(address: String)
    case passedOver(address: String?)
  }

  private let limits: Limits
  private var states: [Key: State] = [:]
  private var preferred: Set<Key> = []
  /// In the order in which resolvers are assigned. May hold keys that are not waiting any more.
  private var queue: [Key] = []
  private var asking: [(key: Key, since: ContinuousClock.Instant)] = []
  private var silent: [Key] = []
  private var foundAt: [String: Int] = [:]
  private var foundCount = 0
  private var waitingCount = 0
  private var lastNews = ContinuousClock.now

  /// How many more services an address announces than are looked at; `nil` stands for too many in all.
  private(set) var passedOver: [String?: Int] = [:]

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Whether nothing is waiting or being asked for.
  var isQuiet: Bool { asking.isEmpty && waitingCount == 0 }

  /// When to ask for the ``next(at:)`` one again: now, or when a turn ends that somebody waits for.
  func nextTurn(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard waitingCount > 0 else { return nil }
    guard openCount >= limits.open, silent.allSatisfy(preferred.contains) else { return now }
    return asking.first.map { max($0.since + limits.patience, lastNews + limits.pause) }
  }

  private var openCount: Int { asking.count + silent.count + foundCount }

  /// Something was announced, withdrawn or answered.
  mutating func hasNews(at now: ContinuousClock.Instant) { lastNews = now }

  mutating func announce(_ key: Key, isPreferred: Bool = false) {
    guard states[key] == nil else { return }
    guard isPreferred || states.count < limits.remembered else {
      passedOver[nil, default: 0] += 1
      return
    }
    states[key] = .waiting
    waitingCount += 1
    if isPreferred {
      preferred.insert(key)
      queue.insert(key, at: 0)
    } else {
      queue.append(key)
    }
    // What was withdrawn before its turn leaves its place in the queue.
    if queue.count > 2 * limits.remembered { queue = queue.filter { states[$0] == .waiting } }
  }

  /// What is no longer announced. The caller closes its resolver if there is one.
  mutating func withdraw(_ key: Key) {
    leave(key)
    if case .passedOver(let address)? = states[key], let count = passedOver[address] {
      passedOver[address] = count > 1 ? count - 1 : nil
    }
    states[key] = nil
    preferred.remove(key)
  }

  /// The next one to look at, and the one whose resolver is to be closed for it first.
  mutating func next(at now: ContinuousClock.Instant) -> (open: Key, close: Key?)? {
    guard waitingCount > 0, let index = queue.firstIndex(where: { states[$0] == .waiting }) else {
      queue = []
      return nil
    }
    let key = queue[index]
    var closed: Key?
    if openCount >= limits.open {
      guard let victim = victim(for: key, at: now) else { return nil }
      leave(victim)
      states[victim] = .waiting
      waitingCount += 1
      queue.append(victim)
      closed = victim
    }
    queue.removeFirst(index + 1)
    waitingCount -= 1
    states[key] = .asking
    asking.append((key, now))
    return (key, closed)
  }

  /// There is an answer. False if the address has too many already: then the resolver is to be closed.
  mutating func answered(_ key: Key, from address: String) -> Bool {
    guard let state = states[key] else { return false }
    leave(key)
    let isPreferred = preferred.contains(key)
    let isCrowded = foundAt[address, default: 0] >= limits.perAddress
    guard isPreferred || (!isCrowded && foundCount < limits.found) else {
      if case .passedOver = state { return false }
      let reason = isCrowded ? address : nil
      states[key] = .passedOver(address: reason)
      passedOver[reason, default: 0] += 1
      return false
    }
    states[key] = .found(address: address)
    foundAt[address, default: 0] += 1
    foundCount += 1
    return true
  }

  /// There is none, or none any more. The resolver may stay open, until others need its place.
  mutating func unanswered(_ key: Key) {
    guard let state = states[key], state != .silent, state != .waiting else { return }
    leave(key)
    states[key] = .silent
    silent.append(key)
  }

  /// A flood of names that nobody answers for is not to keep out one that somebody does.
  private func victim(for key: Key, at now: ContinuousClock.Instant) -> Key? {
    let isPreferred = preferred.contains(key)
    let silent = silent.first { !preferred.contains($0) }
    let isPause = now >= lastNews + limits.pause
    let slow = asking.first {
      !preferred.contains($0.key) && (isPreferred || isPause && now >= $0.since + limits.patience)
    }
    return silent ?? slow?.key
  }

  /// Takes a key out of the counts and lists of its state.
  private mutating func leave(_ key: Key) {
    switch states[key] {
    case .asking: asking.removeAll { $0.key == key }
    case .silent: silent.removeAll { $0 == key }
    case .found(let address):
      foundCount -= 1
      if let count = foundAt[address] { foundAt[address] = count > 1 ? count - 1 : nil }
    case .waiting: waitingCount -= 1
    case .passedOver, nil: break
    }
  }
}
