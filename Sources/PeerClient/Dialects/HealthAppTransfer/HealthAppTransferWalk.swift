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

  /// In which samples may arrive late without a sweep being needed for them, in seconds: two weeks.
  static let trailing: Int64 = 14 * 86_400
  /// Of so few rows all are read each time: it costs one request, as asking for their number would.
  static let fewRows = 900
  /// By how much a page is moved that does not reach back to what has been read.
  private static let stepBack = HealthAppTransferRequest.mostRows / 2

  /// What the phone has ceased to list, where everything was read without a break; `nil` where it was not.
  private(set) var missing: [Sample]?

  private enum Mode {
    case begin
    case probed(total: Int?)
    case head(HeadWalk)
    case full
    case end
  }

  /// A walk from the newest row down to what is known.
  private struct HeadWalk {
    /// What the phone has; `nil` where that is more than one page ahead.
    var total: Int?
    var offset = 0
    var second: Int64?
    /// Whether it settles what a walk through everything left open, so that no other follows.
    var isFinal: Bool
  }

  let type: HealthAppTransferRequest.AppType
  private(set) var state: Position.TypeState
  var total: Int? { state.count }
  private let client: HealthAppTransferClient
  private let store: HealthStore
  private let task: Task
  /// Who has sent what is looked for; `nil` where nothing is.
  private let sender: String?
  private var mode = Mode.begin
  /// What has been missing so far of a walk that began here; `nil` for another.
  private var candidates: [Sample]?
  /// Rows of ``Position/Walk/second`` that have been read.
  private var ofLastSecond: Set<UUID> = []
  /// New rows that have been found from the newest down.
  private var handedOn: Set<UUID> = []

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
    case .probed(let total): return try await startHead(total: total)
    case .head(let walk): return try await head(walk)
    case .full: return try await full()
    case .end: return PhoneStep(isLast: true)
    }
  }

  // MARK: Beginning

  private mutating func begin() async throws -> PhoneStep {
    switch task {
    case .rest:
      guard state.walk != nil else { return PhoneStep(isLast: true) }
      mode = .full
      return try await full()
    case .sweep:
      if state.walk == nil { state.walk = Position.Walk() }
      mode = .full
      return try await full()
    case .news: break
    }
    guard let count = state.count else {
      // Interrupted before the end of the first walk: what is new since then comes first, and the rest of it later.
      if state.walk != nil { return try await startHead(total: nil) }
      state.walk = Position.Walk()
      mode = .full
      return try await full(pages: 1)
    }
    guard count > Self.fewRows else {
      state.walk = Position.Walk()
      mode = .full
      return try await full()
    }
    return try await probe(count)
  }

  /// Asks whether the phone still has as many rows: with one row, where it has.
  private mutating func probe(_ count: Int) async throws -> PhoneStep {
    let page = try await client.page(of: type, offset: count - 1)
    if let total = page.total, total == count {
      mode = .end
      return PhoneStep(isLast: true)
    }
    // What is among the oldest rows and not here has been added there lately.
    let new = try await unknown(page.rows)
    state.count = count + new.count
    mode = .probed(total: page.total)
    return PhoneStep(samples: new)
  }

  // MARK: The newest rows

  private mutating func startHead(total: Int?, isFinal: Bool = false) async throws -> PhoneStep {
    try await head(HeadWalk(total: total, isFinal: isFinal))
  }

  private mutating func head(_ walk: HeadWalk) async throws -> PhoneStep {
    var walk = walk
    let page = try await client.page(of: type, offset: walk.offset)
    if let second = walk.second, walk.offset > 0, !reaches(back: second, page) {
      walk.offset = max(0, walk.offset - Self.stepBack)
      mode = .head(walk)
      return PhoneStep()
    }
    let new = try await unknown(page.rows)
    if let count = state.count { state.count = count + new.count }
    // A walk through everything that is under way has passed these.
    if let second = state.walk?.second {
      let passed = new.count { $0.start.seconds > second }
      state.walk?.rows += passed
      state.walk?.offset += passed
    }
    if let total = page.total { walk.total = total }
    let last = page.rows.last?.second
    let isOld = last.map { $0 < client.now.seconds - Self.trailing } ?? false
    let isSettled = if let total = walk.total, let count = state.count { count >= total } else { false }
    if !page.hasMore || isSettled && new.count < page.rows.count
      || new.isEmpty && !page.rows.isEmpty && (isOld || state.count == nil)
    {
      return PhoneStep(samples: new, isLast: try await settle(walk))
    }
    walk.offset = Self.next(after: page, at: walk.offset).offset
    walk.second = last ?? walk.second
    mode = .head(walk)
    return PhoneStep(samples: new)
  }

  /// Compares the numbers after a walk from the newest row.
  ///
  /// - Returns: whether that was all.
  private mutating func settle(_ walk: HeadWalk) async throws -> Bool {
    mode = .end
    guard let count = state.count else {
      // The walk that was interrupted goes on by itself.
      return true
    }
    var total = walk.total
    if total.map({ $0 < count }) ?? true {
      total = try await client.page(of: type, offset: max(0, count - 1)).total
    }
    if let total, total == count {
      state.isDoubtful = false
    } else if let total, total < count || walk.isFinal {
      // Something was deleted there, as a rule, which may hide what was added elsewhere.
      (state.count, state.isDoubtful) = (total, true)
    } else {
      // There is more than has been found: somewhere among the old.
      state.walk = Position.Walk()
      mode = .full
      return false
    }
    return true
  }

  // MARK: Everything

  /// - Parameter pages: after how many pages the rest is left to a later task.
  private mutating func full(pages: Int? = nil) async throws -> PhoneStep {
    var walk = state.walk ?? Position.Walk()
    if walk == Position.Walk() { candidates = sender == nil ? nil : [] }
    var page = try await client.page(of: type, offset: walk.offset)
    var back = Self.stepBack
    while let second = walk.second, walk.offset > 0, !walk.isTied, !reaches(back: second, page) {
      walk.offset = max(0, walk.offset - back)
      // The longer it was interrupted, the further things may have moved.
      back *= 2
      page = try await client.page(of: type, offset: walk.offset)
    }
    let newest = walk.second ?? .max
    let last = page.hasMore ? page.rows.last?.second ?? newest : .min
    count(page, from: newest, to: min(last, newest), &walk)
    walk.unreadable += page.unreadable
    try await look(for: page, from: newest, to: min(last, newest), isTied: walk.isTied)
    let next = Self.next(after: page, at: walk.offset)
    let samples = page.rows.map(\.sample)
    if page.hasMore {
      (walk.offset, walk.isTied) = next
      walk.second = min(last, newest)
      state.walk = walk
      if pages == 1 { mode = .end }
      return PhoneStep(samples: samples, isLast: pages == 1)
    }
    let isOnePage = walk.second == nil
    state.oldest = page.rows.last?.second ?? walk.second
    state.swept = client.now.seconds
    state.unreadable = walk.unreadable
    state.walk = nil
    ofLastSecond = []
    let total = page.total ?? walk.rows + walk.unreadable
    if isOnePage || walk.rows + walk.unreadable == total {
      (state.count, state.isDoubtful, mode, missing) = (total, false, .end, candidates)
      return PhoneStep(samples: samples, isLast: true)
    }
    // What came or went meanwhile.
    state.count = walk.rows + walk.unreadable
    mode = .head(HeadWalk(total: total, isFinal: true))
    return PhoneStep(samples: samples)
  }

  /// Counts the rows that start after `last`, and are not later than `newest`, once each; those of `last` are counted with the
  /// next page, which has them again.
  private mutating func count(
    _ page: HealthAppTransferPage, from newest: Int64, to last: Int64, _ walk: inout Position.Walk
  ) {
    var counted: Set<UUID> = newest > last ? ofLastSecond : []
    for row in page.rows where row.second <= newest && row.second > last { counted.insert(row.sample.uuid) }
    walk.rows += counted.count
    if newest > last { ofLastSecond = [] }
    for row in page.rows where row.second == last { ofLastSecond.insert(row.sample.uuid) }
  }

  /// Looks for what has been sent, starts after `last`, not later than `newest`, and is not listed. A stretch of which too
  /// much is missing ends the search.
  private mutating func look(
    for page: HealthAppTransferPage, from newest: Int64, to last: Int64, isTied: Bool
  ) async throws {
    guard let sender, let found = candidates else { return }
    let range =
      Timestamp(seconds: last == .min ? .min : last + 1)..<Timestamp(seconds: newest == .max ? .max : newest + 1)
    let gone = try await store.samples.unlisted(
      of: type.type, sentBy: sender, in: range, listed: Set(page.rows.map(\.sample.uuid)), limit: Absences.most + 1)
    let isPlausible = Absences.isPlausible(gone.count, among: page.rows.count) && !isTied && page.unreadable == 0
    candidates = isPlausible && found.count + gone.count <= Absences.most ? found + gone : nil
  }

  // MARK: Pages

  /// Whether a page begins before a second that has been read in part, so that all of that is in it or after it.
  private func reaches(back second: Int64, _ page: HealthAppTransferPage) -> Bool {
    page.rows.first.map { $0.second > second } ?? false
  }

  /// Where the next page begins: one row before the first of the last second. Some rows of a page may be left out, so that
  /// its rows are at least as far down the list as they are in it.
  private static func next(after page: HealthAppTransferPage, at offset: Int) -> (offset: Int, isTied: Bool) {
    guard let last = page.rows.last?.second, let first = page.rows.firstIndex(where: { $0.second == last }), first > 1
    else { return (offset + stepBack, true) }
    return (offset + first - 1, false)
  }

  /// Those that the store lacks and that have not been handed on here: what was is not written yet, perhaps.
  private mutating func unknown(_ rows: [HealthAppTransferPage.Row]) async throws -> [Sample] {
    let known = try await store.samples.known(rows.map(\.sample.reference))
    let new = rows.map(\.sample).filter { !known.contains($0.uuid) && !handedOn.contains($0.uuid) }
    handedOn.formUnion(new.map(\.uuid))
    return new
  }
}
