import Foundation
import HealthModel
import HealthStore

/// Reading all rows.
extension HealthAppTransferWalk {
  /// Reads the next page of a walk through all rows.
  ///
  /// - Parameter pages: the number of pages after which the rest is left to a later task.
  mutating func full(pages: Int? = nil) async throws -> PhoneStep {
    mode = .full
    var walk = state.walk ?? Position.Walk()
    if walk == Position.Walk() { candidates = sender == nil ? nil : [] }
    var page = try await client.page(of: type, offset: walk.offset)
    if walk.offset == 0 { note(page.unsendable) }
    var back = Self.stepBack
    while let second = walk.second, walk.offset > 0, !isBlind,
      !Self.reaches(back: walk.isWhole == true ? second - 1 : second, page)
    {
      walk.offset = max(0, walk.offset - back)
      // The longer the interruption, the further rows may have moved.
      back *= 2
      page = try await client.page(of: type, offset: walk.offset)
    }
    let newest = walk.newest
    let last = min(page.hasMore ? page.rows.last?.second ?? newest : .min, newest)
    let counted = count(page, from: newest, to: last)
    walk.rows += counted
    walk.unreadable += page.unreadable
    walk.windows?.append(PhoneWindow(from: Self.second(after: last), rows: counted + page.unreadable))
    if let windows = walk.windows, windows.count > Self.mostWindows { walk.windows = nil }
    try await look(for: page, from: newest, to: last)
    // Rows of the previous page are left out, so that a list that repeats itself yields no samples.
    let before = latest.0
    let samples = page.rows.map(\.sample).filter { !before.contains($0.uuid) }
    latest = (Set(page.rows.map(\.sample.uuid)), latest.0)
    guard page.hasMore else { return PhoneStep(samples: samples, isLast: finish(walk, page)) }
    try advance(last < newest)
    guard walk.offset < HealthAppTransferRequest.mostOffset else { throw Self.endless }
    var crowd: Crowd?
    switch Self.next(after: page, at: walk.offset) {
    case .offset(let offset): (walk.offset, isBlind) = (offset, false)
    case .blind(let offset): (walk.offset, isBlind) = (offset, true)
    case .crowded: crowd = Crowd(second: last, start: walk.offset)
    }
    (walk.second, walk.isWhole) = (last, nil)
    state.walk = walk
    if let crowd { mode = .crowd(crowd) }
    if pages == 1 { mode = .end }
    return PhoneStep(samples: samples, isLast: pages == 1)
  }

  /// Ends a walk after its last row.
  ///
  /// - Returns: whether the walk leaves nothing to settle.
  private mutating func finish(_ walk: Position.Walk, _ page: HealthAppTransferPage) -> Bool {
    let (isOnePage, rows) = (walk.second == nil, walk.rows + walk.unreadable)
    let total = page.total ?? rows
    (ofLastSecond, mode) = ([], .end)
    // A locked phone also returns an empty list. A walk that the lock interrupts continues later.
    if total == 0, rows > 0, state.count == nil {
      isWithdrawn = true
      return true
    }
    state.walk = nil
    if total == 0, state.count ?? 0 > 0 {
      (isWithdrawn, state.isDoubtful) = (true, true)
      return true
    }
    state.oldest = page.rows.last?.second ?? walk.second
    (state.swept, state.probed) = (client.now.seconds, client.now.seconds)
    state.unreadable = walk.unreadable
    if isOnePage || rows == total && walk.isShort == true {
      (state.count, state.isDoubtful, missing) = (total, walk.isShort == true, candidates)
      state.doubts = state.isDoubtful ? (state.doubts ?? 0) + 1 : nil
      state.windows = isOnePage ? [PhoneWindow(from: .min, rows: total)] : walk.windows
      return true
    }
    // Rows came or went meanwhile, possibly equally many. The type stays doubtful until that is settled.
    (state.count, state.windows, state.isDoubtful) = (rows, walk.windows, true)
    missing = rows == total ? candidates : nil
    if readsOnce, rows == total { return true }
    mode = .head(HeadWalk(isFinal: true, said: total, found: handedOn))
    return false
  }

  /// Continues the walk after a second that does not fit on a page.
  mutating func pass(_ crowd: Crowd, before offset: Int) {
    var walk = state.walk ?? Position.Walk()
    walk.rows += crowd.seen.count
    walk.windows?.append(PhoneWindow(from: crowd.second, rows: crowd.seen.count))
    (walk.second, walk.isWhole, walk.offset) = (crowd.second, true, max(0, offset - 1))
    if crowd.isShort { walk.isShort = true }
    // The order within the second does not reveal which rows are missing.
    (ofLastSecond, candidates, idle, isBlind) = ([], nil, 0, false)
    (state.walk, mode) = (walk, .full)
  }

  /// Returns the second after `last`, or `last` itself if it is an end of time: the newest for a page without rows,
  /// the oldest for the last page.
  private static func second(after last: Int64) -> Int64 { last == .min || last == .max ? last : last + 1 }

  /// Counts once each the rows that start after `last` and not later than `newest`. Rows of `last` are counted with
  /// the next page, which contains them again.
  private mutating func count(_ page: HealthAppTransferPage, from newest: Int64, to last: Int64) -> Int {
    var counted: Set<UUID> = newest > last ? ofLastSecond : []
    for row in page.rows where row.second <= newest && row.second > last { counted.insert(row.sample.uuid) }
    if newest > last { ofLastSecond = [] }
    for row in page.rows where row.second == last { ofLastSecond.insert(row.sample.uuid) }
    return counted.count
  }

  /// Searches the store for samples from this sender that start after `last` and not later than `newest` but are not
  /// listed. The search ends if too many are missing in the range.
  private mutating func look(for page: HealthAppTransferPage, from newest: Int64, to last: Int64) async throws {
    guard let sender, let found = candidates else { return }
    let range =
      Timestamp(seconds: Self.second(after: last))..<Timestamp(seconds: newest == .max ? .max : newest + 1)
    let gone = try await store.samples.unlisted(
      of: type.type, sentBy: sender, in: range, listed: Set(page.rows.map(\.sample.uuid)),
      limit: DeletionInference.most + 1)
    let isPlausible =
      DeletionInference.isPlausible(gone.count, among: page.rows.count) && !isBlind && page.unreadable == 0
    candidates = isPlausible && found.count + gone.count <= DeletionInference.most ? found + gone : nil
  }
}
