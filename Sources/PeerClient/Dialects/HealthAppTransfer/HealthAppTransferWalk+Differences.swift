import Foundation
import HealthModel

extension HealthAppTransferWalk {
  /// A search for where the phone has another number of rows than is known of.
  struct Differences {
    /// What the phone has; `nil` for more than are known of.
    var total: Int?
    /// What it said at the end of a walk through everything, where that has just been.
    var said: Int?
    /// Whether everything has just been read.
    var isFinal: Bool
    /// A window at whose end the numbers differ though the phone has as many in all; `nil` where it has not.
    var differsAt: Int?
    /// How many stretches have been read again.
    var found = 0
  }

  /// More stretches than that are not searched for one by one: reading everything costs as much.
  private static let mostDifferences = 4
  /// Ends of windows that are looked at after everything has been read.
  private static let mostBoundaries = 32
  /// Pages that one stretch may have.
  private static let mostPages = 10

  /// Finds one stretch of time in which the numbers differ, by halves, and reads it.
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
    // Numbers that did not agree after an earlier walk either will not after the next.
    if search.isFinal, !isRepeated, !readsOnce, state.doubts == nil {
      (isRepeated, state.isDoubtful, state.walk, mode) = (true, true, Position.Walk(), .full)
      (idle, isBlind) = (0, false)
      return PhoneStep(samples: samples)
    }
    var last = HeadWalk(isLast: true)
    if let total = search.total ?? search.said, total < state.count ?? 0 || search.isFinal {
      // Something was deleted there, as a rule, which may hide what was added elsewhere.
      last.unseen = max(0, total - (state.count ?? 0))
      state.count = total
    } else if !search.isFinal {
      // There is more than has been found: somewhere among the old.
      state.walk = Position.Walk()
      mode = .full
      return PhoneStep(samples: samples)
    }
    if search.isFinal { state.doubts = (state.doubts ?? 0) + 1 }
    // The search took a while.
    (state.isDoubtful, mode) = (true, .head(last))
    return PhoneStep(samples: samples)
  }

  /// Looks at the end of one of the windows, at another each time: an addition and a deletion on both sides of it leave the
  /// number of all rows as it is, and not the number up to there.
  ///
  /// - Returns: the window, where the numbers differ; `nil` where they do not, or cannot be told.
  mutating func compensated() async throws -> Int? {
    guard let windows = state.windows, windows.count > 1, windows.rows == state.count else { return nil }
    // Multiples of the golden ratio: any few of them in a row are spread evenly.
    let turn = (Double(client.now.seconds / Self.probeAge) * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
    let index = min(Int(abs(turn) * Double(windows.count - 1)), windows.count - 2)
    return try await isBoundary(windows[index].from, at: windows[...index].rows) == false ? index : nil
  }

  /// Looks at the ends of windows after everything has been read: rows that came into what was read already, and as many
  /// that went from it meanwhile, leave the number of all rows as it is, and not the numbers between them.
  ///
  /// What changes within one window, an edit above all, is found by the next walk through everything only.
  ///
  /// - Returns: a window at whose end the numbers differ; `nil` where they do not, or cannot be told.
  mutating func changed() async throws -> Int? {
    guard let windows = state.windows, windows.count > 1, windows.rows == state.count else { return nil }
    let looks = min(windows.count - 1, max(2, windows.count / 4), Self.mostBoundaries)
    for look in 1...looks {
      let index = look * (windows.count - 1) / looks - 1
      if try await isBoundary(windows[index].from, at: windows[...index].rows) == false { return index }
    }
    return nil
  }

  /// The newest of the windows up to whose end the numbers differ; `nil` where that cannot be told. They do at the end of
  /// `last`.
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

  /// Whether so many rows start at a second or later: the last of them, and the first that starts before, are asked for.
  /// `nil` where the app has left one out.
  private mutating func isBoundary(_ second: Int64, at end: Int) async throws -> Bool? {
    let limit = end == 0 ? 1 : 2
    let page = try await client.page(of: type, offset: max(0, end - 1), limit: limit)
    let seconds = page.rows.map(\.second)
    if seconds.count < limit, page.hasMore || page.unreadable > 0 { return nil }
    let (newer, older) = end == 0 ? (second, seconds.first) : (seconds.first, seconds.dropFirst().first)
    guard let newer else { return false }
    return newer >= second && older ?? .min < second
  }

  /// What is new in one window, which is counted anew; not so where the list moves, or has rows that cannot be read.
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
