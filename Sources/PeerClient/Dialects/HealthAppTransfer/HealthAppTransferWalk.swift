import Foundation
import HealthModel
import HealthStore

/// Reads one type of a phone's record, one step after the other; a step is what is committed together with the state after
/// it.
///
/// The app has no positions, only offsets in a list that moves, newest first, with rows of one second in any order. What is
/// exact in it are whole seconds. So each page after the first begins with a row that starts later than the last second of
/// the page before, and that second is read again: no row is lost, however the list moves.
struct HealthAppTransferWalk: PhoneWalk {
  typealias Position = HealthAppTransferPosition

  /// What is read.
  enum Task: PhoneTask {
    /// What is new, as far as counts and the newest rows tell; everything, where that costs one request or was never done.
    case news
    /// What of everything has not been read yet, where a walk has been interrupted.
    case rest
    /// Everything, to find what counts cannot tell.
    case sweep
  }

  /// Of so few rows all are read each time: it costs one request, as asking for their number would.
  static let fewRows = 900
  /// How long after the last time the phone is asked for its number of rows though none of the newest is new, in seconds.
  static let probeAge: Int64 = 30 * 3_600
  /// By how much a page is moved that does not reach back to what has been read.
  static let stepBack = HealthAppTransferRequest.mostRows / 2
  /// Pages in a row that bring nothing older: more have lists only that never end.
  private static let mostIdle = 40
  /// Of ten million rows; the position holds them.
  static let mostWindows = 10_000

  /// What the phone has ceased to list, where everything was read without a break; `nil` where it was not.
  var missing: [Sample]?
  var isWithdrawn = false

  enum Mode {
    case begin
    case head(HeadWalk)
    case differences(Differences)
    case full
    case crowd(Crowd)
    case end
  }

  /// A walk from the newest row down to what is known.
  struct HeadWalk {
    var offset = 0
    var second: Int64?
    /// Whether it settles what a walk through everything left open, so that no other follows.
    var isFinal = false
    /// How many rows the phone said that it has at the end of that walk.
    var said: Int?
    /// Whether it comes after a search, only for what has come meanwhile.
    var isLast = false
    /// Rows that were counted in that search, and not found.
    var unseen = 0
    var news = 0
    /// The second of the newest row of all.
    var newest: Int64?
    /// New rows that had been found from the newest down before it began.
    var found: Set<UUID> = []
  }

  let type: HealthAppTransferRequest.AppType
  var state: Position.TypeState
  var total: Int? { state.count }
  let client: HealthAppTransferClient
  let store: HealthStore
  private let task: Task
  /// Who has sent what is looked for; `nil` where nothing is.
  let sender: String?
  var mode = Mode.begin
  /// What has been missing so far of a walk that began here; `nil` for another.
  var candidates: [Sample]?
  /// Rows of ``Position/Walk/second`` that have been read and not counted.
  var ofLastSecond: Set<UUID> = []
  /// New rows that have been found from the newest down.
  var handedOn: Set<UUID> = []
  /// Rows of the last two pages: not written yet, perhaps.
  var latest: (Set<UUID>, Set<UUID>) = ([], [])
  var idle = 0
  /// Whether the page before had nothing to go on by.
  var isBlind = false
  /// Whether everything is being read a second time, as the list changed too much while it was read.
  var isRepeated = false
  /// Whether everything is read once, and only what has come meanwhile is looked for: for a comparison.
  var readsOnce = false

  init(
    _ type: HealthAppTransferRequest.AppType, _ state: Position.TypeState, _ task: Task,
    _ client: HealthAppTransferClient,
    into store: HealthStore, sender: String? = nil
  ) {
    self.sender = sender
    (self.type, self.state, self.task, self.client, self.store) = (type, state, task, client, store)
  }

  /// The next step; the last one where there is nothing more to do.
  mutating func next() async throws -> PhoneStep {
    switch mode {
    case .begin: return try await begin()
    case .head(let walk): return try await head(walk)
    case .differences(let search): return try await look(into: search)
    case .full: return try await full()
    case .crowd(let crowd): return try await read(crowd)
    case .end: return PhoneStep(isLast: true)
    }
  }

  private mutating func begin() async throws -> PhoneStep {
    switch task {
    case .rest:
      guard state.walk != nil else { return PhoneStep(isLast: true) }
      return try await full()
    case .sweep:
      if state.walk == nil { state.walk = Position.Walk() }
      return try await full()
    case .news: break
    }
    guard let count = state.count else {
      // Interrupted before the end of the first walk: what is new since then comes first, and the rest of it later.
      if state.walk != nil { return try await head(HeadWalk()) }
      state.walk = Position.Walk()
      return try await full(pages: 1)
    }
    guard count > Self.fewRows || state.unsendable != nil else {
      state.walk = Position.Walk()
      return try await full()
    }
    return try await head(HeadWalk())
  }

  // MARK: The newest rows

  private mutating func head(_ walk: HeadWalk) async throws -> PhoneStep {
    var walk = walk
    if walk.offset == 0, walk.second == nil, let step = try await headBesideUnsendable(walk) { return step }
    let page = try await client.page(of: type, offset: walk.offset)
    if walk.offset == 0 { note(page.unsendable) }
    if let second = walk.second, walk.offset > 0, !isBlind, !Self.reaches(back: second, page) {
      walk.offset = max(0, walk.offset - Self.stepBack)
      mode = .head(walk)
      try advance(false)
      return PhoneStep()
    }
    var (new, isKnown) = try await unknown(page.rows)
    add(new)
    if page.rows.contains(where: { walk.found.contains($0.sample.uuid) }) { isKnown = true }
    walk.newest = walk.newest ?? page.rows.first?.second
    walk.news += new.count
    // Below what is known is what was known before; an interrupted walk has read it without a break.
    if !page.hasMore || isKnown && (state.count != nil || new.isEmpty) {
      return PhoneStep(samples: new, isLast: try await settle(walk))
    }
    let last = page.rows.last?.second
    try advance(last.map { $0 < walk.second ?? .max } ?? false)
    guard walk.offset < HealthAppTransferRequest.mostOffset else { throw Self.endless }
    switch Self.next(after: page, at: walk.offset) {
    case .offset(let offset): (walk.offset, isBlind) = (offset, false)
    case .blind(let offset): (walk.offset, isBlind) = (offset, true)
    case .crowded:
      // What is new is more in one second than a page holds. After a search that is left to the next run, and after a walk
      // through everything, which would begin again, to the next sweep.
      if !walk.isFinal { state.walk = Position.Walk() }
      let isOver = walk.isLast || walk.isFinal
      mode = isOver ? .end : .full
      return PhoneStep(samples: new, isLast: isOver)
    }
    walk.second = last ?? walk.second
    mode = .head(walk)
    return PhoneStep(samples: new)
  }

  /// Compares the numbers after a walk from the newest row.
  ///
  /// - Returns: whether that was all.
  mutating func settle(_ walk: HeadWalk) async throws -> Bool {
    mode = .end
    // A walk that was interrupted goes on by itself.
    guard let count = state.count else { return true }
    if walk.isLast {
      state.count = count - min(walk.unseen, walk.news)
      return true
    }
    if let newest = walk.newest, let first = state.windows?.first, first.rows > HealthAppTransferRequest.mostRows,
      newest >= first.from
    {
      state.windows?.insert(PhoneWindow(from: newest + 1, rows: 0), at: 0)
    }
    let isDue = client.now.seconds - (state.probed ?? .min / 2) > Self.probeAge
    guard walk.news > 0 || walk.isFinal || isDue else { return true }
    let total = try await probe()
    // Nothing at all is what a locked phone says, too.
    if total == 0, count > 0 {
      isWithdrawn = true
      // What that walk left open is not settled.
      if walk.isFinal { state.isDoubtful = true }
      return true
    }
    var differsAt: Int?
    if total == count {
      differsAt = walk.isFinal ? try await changed() : isDue ? try await compensated() : nil
      guard differsAt != nil else {
        // A number that was taken over from the phone in doubt settles nothing by being the same again.
        if walk.isFinal { (state.isDoubtful, state.doubts) = (false, nil) }
        return true
      }
    }
    missing = nil
    mode = .differences(Differences(total: total, said: walk.said, isFinal: walk.isFinal, differsAt: differsAt))
    return false
  }

  /// Asks for the last row that is known of: there, and no other after it, where there are as many.
  ///
  /// - Returns: how many rows there are; `nil` for more than are known of.
  mutating func probe() async throws -> Int? {
    let page = try await client.page(of: type, offset: max(0, (state.count ?? 0) - 1), limit: 1)
    state.probed = client.now.seconds
    return page.total
  }

  // MARK: Pages

  /// Whether a page begins before a second that has been read in part, so that all of that is in it or after it.
  static func reaches(back second: Int64, _ page: HealthAppTransferPage) -> Bool {
    page.rows.first.map { $0.second > second } ?? false
  }

  /// How one goes on after a page.
  enum NextPage {
    /// One row before the first of the last second. Some rows of a page may be left out, so that its rows are at least as
    /// far down the list as they are in it.
    case offset(Int)
    /// Too few rows came to tell.
    case blind(Int)
    /// The page has little else than one second, whose order tells nothing.
    case crowded
  }

  static func next(after page: HealthAppTransferPage, at offset: Int) -> NextPage {
    let step = max(1, page.limit / 2)
    guard let last = page.rows.last?.second, let first = page.rows.firstIndex(where: { $0.second == last }) else {
      return .blind(offset + step)
    }
    if first > 1 { return .offset(offset + first - 1) }
    return page.rows.count >= step ? .crowded : .blind(offset + step)
  }

  /// Throws where a list does not come to an end.
  mutating func advance(_ isOlder: Bool) throws {
    idle = isOlder ? 0 : idle + 1
    guard idle <= Self.mostIdle else { throw Self.endless }
  }

  static let endless = PeerError.unexpectedAnswer(status: 200, message: "a list that does not end")

  // MARK: What is new

  /// Those that the store lacks and that have not been handed on here, where what was is not written yet, perhaps; and
  /// whether others were here before.
  mutating func unknown(
    _ rows: [HealthAppTransferPage.Row]
  ) async throws -> (new: [Sample], isKnown: Bool) {
    let known = try await store.samples.known(rows.map(\.sample.reference))
    var (new, isKnown): ([Sample], Bool) = ([], false)
    for sample in rows.lazy.map(\.sample) where !handedOn.contains(sample.uuid) {
      if known.contains(sample.uuid) || latest.0.contains(sample.uuid) || latest.1.contains(sample.uuid) {
        isKnown = true
      } else {
        new.append(sample)
      }
    }
    handedOn.formUnion(new.map(\.uuid))
    return (new, isKnown)
  }

  /// Counts rows that have been found.
  mutating func add(_ new: [Sample]) {
    let seconds = new.map(\.start.seconds)
    if let count = state.count {
      state.count = count + new.count
      state.windows?.tally(seconds)
    }
    // A walk through everything that is under way has passed these.
    guard let newest = state.walk?.newest, newest < .max else { return }
    let passed = seconds.filter { $0 > newest }
    state.walk?.rows += passed.count
    state.walk?.offset += passed.count
    state.walk?.windows?.tally(passed)
  }
}
