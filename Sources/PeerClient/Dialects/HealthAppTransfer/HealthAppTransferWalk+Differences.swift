import Foundation
import HealthModel

extension HealthAppTransferWalk {
  /// A search for the time ranges in which the phone's number of rows differs from the known number.
  struct Differences {
    /// The phone's number of rows, or `nil` if it has more than are known.
    var total: Int?
    /// The phone's number of rows at the end of a walk through everything, if one has just ended.
    var said: Int?
    /// Whether everything has just been read.
    var isFinal: Bool
    /// The index of a window at whose end the numbers differ although the totals agree; `nil` if the totals differ.
    var differsAt: Int?
    /// The number of ranges read again so far.
    var found = 0
  }

  /// The maximum number of ranges searched for one by one; with more, reading everything costs as much.
  private static let mostDifferences = 4
  /// The maximum number of window ends checked after everything has been read.
  private static let mostBoundaries = 32
  /// The maximum number of pages in one range.
  private static let mostPages = 10

  /// Finds one time range in which the numbers differ, by binary search, and reads it.
  mutating func look(into search: Differences) async throws -> PhoneStep {
    var search = search
    guard search.found < Self.mostDifferences, let windows = state.windows, windows.rows == state.count,
      let index = try await differing(windows, upTo: search.differsAt ?? windows.count - 1)
    else { return giveUp(search) }
    let (samples, isWhole) = try await read(windows, index)
    guard isWhole else { return giveUp(search, samples) }
    search.found += 1
    search.differsAt = nil
    search.total = try await probe()
    if search.total == state.count, search.isFinal { search.differsAt = try await changed() }
    mode = .differences(search)
    if search.total == state.count, search.differsAt == nil {
      (mode, state.isDoubtful, state.doubts) = (.head(HeadWalk(isLast: true)), false, nil)
    }
    return PhoneStep(samples: samples)
  }

  private mutating func giveUp(_ search: Differences, _ samples: [Sample] = []) -> PhoneStep {
    state.windows = nil
    // If the numbers did not agree after an earlier walk, another walk would not help either.
    if search.isFinal, !isRepeated, !readsOnce, state.doubts == nil {
      (isRepeated, state.isDoubtful, state.walk, mode) = (true, true, Position.Walk(), .full)
      (idle, isBlind) = (0, false)
      return PhoneStep(samples: samples)
    }
    var last = HeadWalk(isLast: true)
    if let total = search.total ?? search.said, total < state.count ?? 0 || search.isFinal {
      // Rows were probably deleted on the phone, which may hide rows that were added elsewhere.
      last.unseen = max(0, total - (state.count ?? 0))
      state.count = total
    } else if !search.isFinal {
      // Rows exist that have not been found, somewhere among the older ones.
      state.walk = Position.Walk()
      mode = .full
      return PhoneStep(samples: samples)
    }
    if search.isFinal { state.doubts = (state.doubts ?? 0) + 1 }
    // The search took a while, so new rows may have arrived.
    (state.isDoubtful, mode) = (true, .head(last))
    return PhoneStep(samples: samples)
  }

  /// Checks the end of one window, another each time. An addition on one side of it and a deletion on the other leave
  /// the total unchanged, but not the number up to that point.
  ///
  /// - Returns: the window's index if the numbers differ; `nil` if they agree or cannot be determined.
  mutating func compensated() async throws -> Int? {
    guard let windows = state.windows, windows.count > 1, windows.rows == state.count else { return nil }
    // Consecutive multiples of the golden ratio are spread evenly.
    let turn = (Double(client.now.seconds / Self.probeAge) * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
    let index = min(Int(abs(turn) * Double(windows.count - 1)), windows.count - 2)
    return try await isBoundary(windows[index].from, at: windows[...index].rows) == false ? index : nil
  }

  /// Checks the ends of windows after everything has been read. Rows added to the part already read, and as many
  /// deleted from it meanwhile, leave the total unchanged, but not the numbers in between.
  ///
  /// A change within one window, such as an edit, is only found by the next walk through everything.
  ///
  /// - Returns: the index of a window at whose end the numbers differ; `nil` if they agree or cannot be determined.
  mutating func changed() async throws -> Int? {
    guard let windows = state.windows, windows.count > 1, windows.rows == state.count else { return nil }
    let looks = min(windows.count - 1, max(2, windows.count / 4), Self.mostBoundaries)
    for look in 1...looks {
      let index = look * (windows.count - 1) / looks - 1
      if try await isBoundary(windows[index].from, at: windows[...index].rows) == false { return index }
    }
    return nil
  }

  /// Returns the newest window up to whose end the numbers differ, or `nil` if that cannot be determined. The numbers
  /// differ at the end of `last`.
  private mutating func differing(_ windows: [PhoneWindow], upTo last: Int) async throws -> Int? {
    var ends: [Int] = []
    for window in windows { ends.append((ends.last ?? 0) + window.rows) }
    var (same, different) = (-1, last)
    while different - same > 1 {
      let middle = (same + different) / 2
      guard let isSame = try await isBoundary(windows[middle].from, at: ends[middle]) else { return nil }
      if isSame { same = middle } else { different = middle }
    }
    return different
  }

  /// Returns whether exactly `end` rows start at or after a second. Requests the last of these rows and the next
  /// older one. Returns `nil` if the app left out one of the two.
  private mutating func isBoundary(_ second: Int64, at end: Int) async throws -> Bool? {
    let limit = end == 0 ? 1 : 2
    let page = try await client.page(of: type, offset: max(0, end - 1), limit: limit)
    let seconds = page.rows.map(\.second)
    if seconds.count < limit, page.hasMore || page.unreadable > 0 { return nil }
    let (newer, older) = end == 0 ? (second, seconds.first) : (seconds.first, seconds.dropFirst().first)
    guard let newer else { return false }
    return newer >= second && older ?? .min < second
  }

  /// Reads one window and recounts it. The result is not whole if the list moves or has unreadable rows.
  private mutating func read(
    _ windows: [PhoneWindow], _ index: Int
  ) async throws -> (samples: [Sample], isWhole: Bool) {
    let from = windows[index].from
    let end = index == 0 ? Int64.max : windows[index - 1].from
    var offset = max(0, windows[..<index].reduce(0) { $0 + $1.rows } - 1)
    var (second, found, samples): (Int64, Set<UUID>, [Sample]) = (index == 0 ? .max : end - 1, [], [])
    for _ in 0..<Self.mostPages {
      let page = try await client.page(of: type, offset: offset)
      if offset == 0 { note(page.unsendable) }
      guard let last = page.rows.last?.second, page.unreadable == 0, offset == 0 || Self.reaches(back: second, page),
        !page.hasMore || page.rows.count == page.limit
      else { break }
      let rows = page.rows.filter { $0.second >= from && $0.second < end }
      found.formUnion(rows.map(\.sample.uuid))
      samples += try await unknown(rows).new
      if !page.hasMore || last < from {
        state.windows?[index].rows = found.count
        state.count = state.windows?.rows
        return (samples, true)
      }
      guard case .offset(let next) = Self.next(after: page, at: offset) else { break }
      (offset, second) = (next, last)
    }
    return (samples, false)
  }
}
