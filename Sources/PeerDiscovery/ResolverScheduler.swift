/// A scheduler for the resolvers of a browse session: it decides which announcements are resolved and in which order,
/// so that a host that announces a thousand services cannot keep others from being found.
///
/// An announcement queues for a resolver. If it gets no answer within a second, it gives up its resolver to a queued
/// one. An address holds at most ``Limits/perAddress`` entries. A preferred announcement, whose name a person asked
/// for, goes first and is never skipped.
struct ResolverScheduler<Key: Hashable> {
  struct Limits {
    /// The maximum number of concurrent resolvers. avahi-daemon allows a client 1,024 objects.
    var open = 512
    /// The maximum number of services tracked in total; a machine makes one for each interface and IP version.
    var found = 256
    /// The maximum number of services listed for an address. A host needs one; more are a flood.
    var perAddress = 16
    /// The maximum number of announcements kept in any state; further ones are counted and dropped.
    var remembered = 4096
    var patience = Duration.seconds(1)
    /// The minimum time without any answer before a resolver is taken away: until then, its answer may be queued
    /// behind a thousand other messages.
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
  /// The keys in the order in which resolvers are assigned. May contain keys that no longer wait.
  private var queue: [Key] = []
  private var asking: [(key: Key, since: ContinuousClock.Instant)] = []
  private var silent: [Key] = []
  private var foundAt: [String: Int] = [:]
  private var foundCount = 0
  private var waitingCount = 0
  private var lastNews = ContinuousClock.now

  /// The number of services beyond the limit for each address; `nil` counts those beyond the total limit.
  private(set) var passedOver: [String?: Int] = [:]

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Whether no announcement is waiting or being resolved.
  var isQuiet: Bool { asking.isEmpty && waitingCount == 0 }

  /// Returns when to call ``next(at:)`` again: now, or when a resolver's turn ends; nil if no announcement is
  /// waiting.
  func nextTurn(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard waitingCount > 0 else { return nil }
    guard openCount >= limits.open, silent.allSatisfy(preferred.contains) else { return now }
    return asking.first.map { max($0.since + limits.patience, lastNews + limits.pause) }
  }

  private var openCount: Int { asking.count + silent.count + foundCount }

  /// Records the time of an announcement, withdrawal or answer.
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
    // Withdrawn announcements leave their place in the queue.
    if queue.count > 2 * limits.remembered { queue = queue.filter { states[$0] == .waiting } }
  }

  /// Removes an announcement that was withdrawn. The caller closes its resolver if it has one.
  mutating func withdraw(_ key: Key) {
    leave(key)
    if case .passedOver(let address)? = states[key], let count = passedOver[address] {
      passedOver[address] = count > 1 ? count - 1 : nil
    }
    states[key] = nil
    preferred.remove(key)
  }

  /// Returns the next announcement to resolve, and the one whose resolver must be closed first.
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

  /// Records an answer. Returns false if the limits are reached; the caller must then close the resolver.
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

  /// Records that an announcement has no answer. Its resolver may stay open until another one needs its place.
  mutating func unanswered(_ key: Key) {
    guard let state = states[key], state != .silent, state != .waiting else { return }
    leave(key)
    states[key] = .silent
    silent.append(key)
  }

  /// Returns the announcement that gives up its resolver: unanswered names must not keep out names that are answered.
  private func victim(for key: Key, at now: ContinuousClock.Instant) -> Key? {
    let isPreferred = preferred.contains(key)
    let silent = silent.first { !preferred.contains($0) }
    let isPause = now >= lastNews + limits.pause
    let slow = asking.first {
      !preferred.contains($0.key) && (isPreferred || isPause && now >= $0.since + limits.patience)
    }
    return silent ?? slow?.key
  }

  /// Removes a key from the counts and lists of its state.
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
