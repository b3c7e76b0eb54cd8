import Foundation
import HealthModel
import HealthStore

/// A reader of one type of a phone's record. Each step is committed together with the state after it.
///
/// The app has no positions, only offsets in a list that moves, newest first, with rows of the same second in
/// arbitrary order. Only whole seconds are exact. Each page after the first therefore begins with a row that starts
/// later than the last second of the previous page, and that second is read again. No row is lost, however the list
/// moves.
struct HealthAppTransferWalk: PhoneWalk {
  typealias Position = HealthAppTransferPosition

  /// The task of a walk.
  enum Task: PhoneTask {
    /// Read what is new, as far as counts and the newest rows show. Read everything if that takes one request or was
    /// never done.
    case news
    /// Read the rest of an interrupted walk through everything.
    case rest
    /// Read everything, to find what counts cannot show.
    case sweep
  }

  /// The number of rows up to which all are read each time, with one request, as many as asking for their number
  /// takes.
  static let fewRows = 900
  /// The age of the last count, in seconds, after which the phone's number of rows is checked although none of the
  /// newest is new.
  static let probeAge: Int64 = 30 * 3_600
  /// The number of rows by which an offset is moved back if its page does not reach rows already read.
  static let stepBack = HealthAppTransferRequest.mostRows / 2
  /// The maximum number of consecutive pages without older rows; only endless lists have more.
  private static let mostIdle = 40
  /// The maximum number of windows, for ten million rows. The stored position contains them.
  static let mostWindows = 10_000

  /// The samples that the phone no longer lists, if everything was read without interruption; else `nil`.
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

  /// A walk from the newest row down to known rows.
  struct HeadWalk {
    var offset = 0
    var second: Int64?
    /// Whether this settles what a walk through everything left open, so that no other walk follows.
    var isFinal = false
    /// The phone's number of rows at the end of that walk.
    var said: Int?
    /// Whether this follows a search and only looks for rows that arrived meanwhile.
    var isLast = false
    /// The number of rows counted in that search but not found.
    var unseen = 0
    var news = 0
    /// The second of the newest row.
    var newest: Int64?
    /// The new rows found from the newest down before this walk began.
    var found: Set<UUID> = []
  }

  let type: HealthAppTransferRequest.AppType
  var state: Position.TypeState
  var total: Int? { state.count }
  let client: HealthAppTransferClient
  let store: HealthStore
  private let task: Task
  /// The sender whose unlisted samples are searched for; `nil` to search for none.
  let sender: String?
  var mode = Mode.begin
  /// The unlisted samples found so far in a walk that began here; `nil` for any other walk.
  var candidates: [Sample]?
  /// The rows of ``Position/Walk/second`` that have been read but not counted.
  var ofLastSecond: Set<UUID> = []
  /// The new rows found from the newest down.
  var handedOn: Set<UUID> = []
  /// The rows of the last two pages, which may not be written yet.
  var latest: (Set<UUID>, Set<UUID>) = ([], [])
  var idle = 0
  /// Whether the previous page did not show where to continue.
  var isBlind = false
  /// Whether everything is being read a second time because the list changed too much during the first.
  var isRepeated = false
  /// Whether everything is read only once, for a comparison, and afterwards only new rows are looked for.
  var readsOnce = false

  init(
    _ type: HealthAppTransferRequest.AppType, _ state: Position.TypeState, _ task: Task,
    _ client: HealthAppTransferClient,
    into store: HealthStore, sender: String? = nil
  ) {
    self.sender = sender
    (self.type, self.state, self.task, self.client, self.store) = (type, state, task, client, store)
  }

  /// Performs the next step, or returns a last step if there is no more work.
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
      // The first walk was interrupted: read what is new since then first, and the rest later.
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
    // Rows below known ones were known before. An interrupted walk has read them without a gap.
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
      // One second has more new rows than fit on a page. After a search, the next run handles that; after a walk
      // through everything, which would begin again, the next sweep does.
      if !walk.isFinal { state.walk = Position.Walk() }
      let isOver = walk.isLast || walk.isFinal
      mode = isOver ? .end : .full
      return PhoneStep(samples: new, isLast: isOver)
    }
    walk.second = last ?? walk.second
    mode = .head(walk)
    return PhoneStep(samples: new)
  }

  /// Compares the counts after a walk from the newest row.
  ///
  /// - Returns: whether the work is done.
  mutating func settle(_ walk: HeadWalk) async throws -> Bool {
    mode = .end
    // An interrupted walk continues in a task of its own.
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
    // A locked phone also returns an empty list.
    if total == 0, count > 0 {
      isWithdrawn = true
      // The questions left by that walk stay open.
      if walk.isFinal { state.isDoubtful = true }
      return true
    }
    var differsAt: Int?
    if total == count {
      differsAt = walk.isFinal ? try await changed() : isDue ? try await compensated() : nil
      guard differsAt != nil else {
        // If a doubtful count was taken from the phone, its agreement now proves nothing.
        if walk.isFinal { (state.isDoubtful, state.doubts) = (false, nil) }
        return true
      }
    }
    missing = nil
    mode = .differences(Differences(total: total, said: walk.said, isFinal: walk.isFinal, differsAt: differsAt))
    return false
  }

  /// Requests the last known row. If it exists and no other follows, the counts agree.
  ///
  /// - Returns: the phone's number of rows, or `nil` if it has more than are known.
  mutating func probe() async throws -> Int? {
    let page = try await client.page(of: type, offset: max(0, (state.count ?? 0) - 1), limit: 1)
    state.probed = client.now.seconds
    return page.total
  }

  // MARK: Pages

  /// Returns whether a page begins before a partially read second, so that it and the following pages contain all of
  /// that second.
  static func reaches(back second: Int64, _ page: HealthAppTransferPage) -> Bool {
    page.rows.first.map { $0.second > second } ?? false
  }

  /// The way to continue after a page.
  enum NextPage {
    /// Continue at the row before the first row of the last second. A page may omit rows, so its rows are at least as
    /// far down the list as in the page.
    case offset(Int)
    /// Continue at an estimated offset, because too few rows arrived.
    case blind(Int)
    /// Read the second repeatedly: the page contains little else, and the order within a second is arbitrary.
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

  /// Counts pages without older rows, and throws if the list does not end.
  mutating func advance(_ isOlder: Bool) throws {
    idle = isOlder ? 0 : idle + 1
    guard idle <= Self.mostIdle else { throw Self.endless }
  }

  static let endless = PeerError.unexpectedAnswer(status: 200, message: "a list that does not end")

  // MARK: What is new

  /// Returns the samples of rows that are neither in the store nor handed on here, and whether any row was known
  /// before. Handed-on samples may not be written yet.
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

  /// Counts new rows.
  mutating func add(_ new: [Sample]) {
    let seconds = new.map(\.start.seconds)
    if let count = state.count {
      state.count = count + new.count
      state.windows?.tally(seconds)
    }
    // A walk through everything that is in progress has already passed these rows.
    guard let newest = state.walk?.newest, newest < .max else { return }
    let passed = seconds.filter { $0 > newest }
    state.walk?.rows += passed.count
    state.walk?.offset += passed.count
    state.walk?.windows?.tally(passed)
  }
}
