import Foundation
import HealthModel
import HealthStore

/// A reader of one type of a phone's record. Each step is committed together with the state after it.
///
/// Time is divided into windows of at most as many samples as one answer may have. A truncated answer is complete
/// except for its last second, so the next window ends with that second, which is read again.
struct HealthSyncWalk: PhoneWalk {
  typealias Position = HealthSyncPosition

  /// The task of a walk.
  enum Task: PhoneTask {
    /// Read the newest windows, or everything if that is little or was never done.
    case news
    /// Read the rest of an interrupted walk through everything.
    case rest
    /// Count the samples in the older windows, and read those whose counts have changed.
    case count
    /// Read everything.
    case sweep
  }

  /// The age up to which windows are always read again, so that late samples are found without counting, in seconds:
  /// two weeks.
  static let trailing: Int64 = 14 * 86_400
  /// The maximum number of samples read again for that, below the size of one answer.
  static let mostAgain = 9_000
  /// The maximum number of windows, for fifty million samples. The stored position contains them.
  private static let mostWindows = 5_000
  /// The maximum number of reads of a second that does not fit into one answer. Its rows come in a different order
  /// each time.
  private static let mostPasses = 40
  /// The maximum number of rows of one second, far above what any app writes. They are held until all have arrived.
  private static let mostOfSecond = 16_000
  /// The maximum number of answers for one second in all passes. At sixty per minute, an app that sends few rows per
  /// answer would otherwise take hours.
  private static let mostPagesOfSecond = 200
  /// Whether fewer rows of a second arrived than exist.
  private var isShort = false

  private enum Mode {
    case begin
    /// Read a stretch again, newest first.
    case stretch(Stretch)
    case full
    case counting(Int)
    case end
  }

  /// A range of windows that is read again.
  private struct Stretch {
    /// The indices of the replaced windows in the state.
    var replaced: Range<Int>
    var from: Int64
    var end: Int64
    var windows: [PhoneWindow] = []
    var unreadable = 0
    var oldest: Int64?
    /// The index at which counting continues afterwards; `nil` for the newest windows.
    var next: Int?
  }

  /// The samples that the phone no longer lists, if everything was read without interruption; else `nil`.
  private(set) var missing: [Sample]?
  private(set) var isWithdrawn = false

  let type: HealthSyncRequest.AppType
  private(set) var state: Position.TypeState
  var total: Int? { state.rows }
  private let client: HealthSyncClient
  private let task: Task
  private var mode = Mode.begin
  private let store: HealthStore?
  /// The sender whose unlisted samples are searched for; `nil` to search for none.
  private let sender: String?
  /// The unlisted samples found so far in a walk that began here; `nil` for any other walk.
  private var candidates: [Sample]?

  /// - Parameters:
  ///   - store, sender: the store in which unlisted samples are searched for, and their sender.
  init(
    _ type: HealthSyncRequest.AppType, _ state: Position.TypeState, _ task: Task, _ client: HealthSyncClient,
    store: HealthStore? = nil, sender: String? = nil
  ) {
    (self.store, self.sender) = (store, sender)
    (self.type, self.state, self.task, self.client) = (type, state, task, client)
  }

  mutating func next() async throws -> PhoneStep {
    switch mode {
    case .begin: return try await begin()
    case .stretch(let stretch): return try await read(stretch)
    case .full: return try await full()
    case .counting(let index): return try await count(index)
    case .end: return PhoneStep(isLast: true)
    }
  }

  private mutating func begin() async throws -> PhoneStep {
    switch task {
    case .news: return try await news()
    case .rest:
      guard state.walk != nil else { return PhoneStep(isLast: true) }
      return try await full()
    case .count:
      // Continues after the window that was counted last.
      let counted = state.counting ?? .max
      return try await count(max(1, state.windows.firstIndex { $0.from < counted } ?? state.windows.count))
    case .sweep:
      if state.walk == nil { state.walk = Position.Walk(end: HealthSyncRequest.allTime.upperBound) }
      return try await full()
    }
  }

  // MARK: The newest windows

  /// The known windows, including those of an unfinished first walk.
  private var windows: [PhoneWindow] {
    get { state.windows.isEmpty ? state.walk?.windows ?? [] : state.windows }
    set { if state.windows.isEmpty { state.walk?.windows = newValue } else { state.windows = newValue } }
  }

  private mutating func news() async throws -> PhoneStep {
    guard !windows.isEmpty else {
      if state.walk == nil { state.walk = Position.Walk(end: HealthSyncRequest.allTime.upperBound) }
      // The rest is left to a separate task, so that the newest samples of every type come first.
      return try await full(isOnePage: true)
    }
    let early = client.now.seconds - Self.trailing
    var (count, rows) = (1, windows[0].rows)
    while count < windows.count, windows[count - 1].from > early, rows + windows[count].rows <= Self.mostAgain {
      rows += windows[count].rows
      count += 1
    }
    return try await read(
      Stretch(
        replaced: 0..<count, from: windows[count - 1].from, end: HealthSyncRequest.allTime.upperBound, next: nil))
  }

  // MARK: A stretch of time

  private mutating func read(_ stretch: Stretch) async throws -> PhoneStep {
    var stretch = stretch
    if stretch.windows.isEmpty { beginSearch(if: stretch.replaced == state.windows.indices && state.walk == nil) }
    guard let part = try await part(from: stretch.from, to: stretch.end) else { return withdrawn() }
    try await look(for: part, before: stretch.end)
    stretch.windows.append(part.window)
    guard stretch.windows.count <= Self.mostWindows else { throw Self.endless }
    stretch.unreadable += part.unreadable
    stretch.oldest = part.samples.map(\.start.seconds).min() ?? stretch.oldest
    stretch.end = part.window.from
    if stretch.end > stretch.from {
      mode = .stretch(stretch)
      return PhoneStep(samples: part.samples)
    }
    let before = windows[stretch.replaced].reduce(0) { $0 + $1.rows }
    let rows = stretch.windows.reduce(0) { $0 + $1.rows }
    if rows < before || isShort { state.isDoubtful = true }
    // A locked phone also returns no samples where there were some.
    if rows > 0 || before == 0 {
      let isAll = stretch.replaced == state.windows.indices && state.walk == nil
      windows.replaceSubrange(stretch.replaced, with: stretch.windows)
      if isAll {
        (state.swept, state.unreadable, state.isDoubtful) = (client.now.seconds, stretch.unreadable, isShort)
        state.oldest = stretch.oldest
        missing = candidates
      }
    } else {
      isWithdrawn = true
    }
    guard let next = stretch.next else {
      mode = .end
      return PhoneStep(samples: part.samples, isLast: true)
    }
    // Set only now: if the stretch is interrupted, the window is counted again.
    state.counting = stretch.from
    mode = .counting(next + stretch.windows.count - 1)
    return PhoneStep(samples: part.samples)
  }

  private struct Part {
    var samples: [Sample]
    var unreadable: Int
    /// The window, which ends where the request did and begins where the next part ends.
    var window: PhoneWindow
  }

  /// Returns the newest samples of a time range: all of it, or whole seconds. Returns `nil` if the type is no longer
  /// shared.
  private mutating func part(from: Int64, to end: Int64) async throws -> Part? {
    guard let page = try await client.page(of: type, from..<end) else { return nil }
    let starts = page.samples.map(\.start.seconds)
    // Allows one second more, because the phone truncates fractions.
    guard starts.allSatisfy({ $0 >= from - 1 && $0 <= end }) else {
      throw PeerError.unexpectedAnswer(status: 200, message: "samples of another time than was asked for")
    }
    if page.hasMore, page.samples.isEmpty {
      // The page does not show where to continue.
      throw page.rows == 0
        ? Self.endless
        : PeerError.unexpectedAnswer(status: 200, message: "\(page.rows) samples that cannot be understood")
    }
    guard page.hasMore, let oldest = starts.min() else {
      return Part(
        samples: page.samples, unreadable: page.unreadable, window: PhoneWindow(from: from, rows: page.rows))
    }
    let last = max(from, min(oldest, end - 1))
    if last + 1 < end {
      let whole = starts.count { $0 > last }
      return Part(
        samples: page.samples, unreadable: page.unreadable,
        window: PhoneWindow(from: last + 1, rows: whole + page.unreadable))
    }
    return try await crowd(last, page)
  }

  /// Returns all samples of a second that does not fit into one answer. Its rows come in a different order each time,
  /// so it is read until as many have arrived as exist.
  private mutating func crowd(_ second: Int64, _ first: HealthSyncPage) async throws -> Part? {
    var samples = Dictionary(first.samples.map { ($0.uuid, $0) }) { $1 }
    var (page, pages) = (first, 1)
    for _ in 0..<Self.mostPasses {
      var (rows, unreadable) = (page.rows, page.unreadable)
      while page.hasMore {
        pages += 1
        guard page.rows > 0, pages <= Self.mostPagesOfSecond else { throw Self.endless }
        guard rows <= Self.mostOfSecond else {
          throw PeerError.unexpectedAnswer(status: 200, message: "more than \(Self.mostOfSecond) samples of one second")
        }
        guard let next = try await client.page(of: type, second..<second + 1, offset: rows) else { return nil }
        page = next
        rows += page.rows
        unreadable += page.unreadable
        for sample in page.samples { samples[sample.uuid] = sample }
      }
      let part = Part(
        samples: Array(samples.values), unreadable: unreadable,
        window: PhoneWindow(from: second, rows: samples.count + unreadable))
      if samples.count + unreadable >= rows { return part }
      guard let again = try await client.page(of: type, second..<second + 1) else { return nil }
      page = again
      for sample in page.samples { samples[sample.uuid] = sample }
    }
    isShort = true
    return Part(
      samples: Array(samples.values), unreadable: 0, window: PhoneWindow(from: second, rows: samples.count))
  }

  private static let endless = PeerError.unexpectedAnswer(status: 200, message: "a list that does not end")

  private mutating func withdrawn() -> PhoneStep {
    (mode, isWithdrawn) = (.end, true)
    return PhoneStep(isLast: true)
  }

  // MARK: Everything

  private mutating func full(isOnePage: Bool = false) async throws -> PhoneStep {
    mode = .full
    guard var walk = state.walk else {
      mode = .end
      return PhoneStep(isLast: true)
    }
    if walk == Position.Walk(end: HealthSyncRequest.allTime.upperBound) { beginSearch(if: true) }
    guard let part = try await part(from: HealthSyncRequest.allTime.lowerBound, to: walk.end) else {
      return withdrawn()
    }
    // The previous answer announced more. A phone that locks itself in the meantime returns no samples for any time;
    // the walk continues here later.
    if part.window.rows == 0, walk.end < HealthSyncRequest.allTime.upperBound,
      try await client.page(of: type, walk.end..<HealthSyncRequest.allTime.upperBound, limit: 1)?.rows ?? 0 == 0
    {
      return withdrawn()
    }
    try await look(for: part, before: walk.end)
    walk.windows.append(part.window)
    guard walk.windows.count <= Self.mostWindows else { throw Self.endless }
    walk.unreadable += part.unreadable
    walk.end = part.window.from
    state.walk = walk
    if walk.end > HealthSyncRequest.allTime.lowerBound {
      if isOnePage { mode = .end }
      return PhoneStep(samples: part.samples, isLast: isOnePage)
    }
    mode = .end
    let rows = walk.windows.reduce(0) { $0 + $1.rows }
    state.walk = nil
    // A locked phone also returns no samples where there were some.
    guard rows > 0 || state.rows == 0 else {
      isWithdrawn = true
      return PhoneStep(isLast: true)
    }
    state.windows = walk.windows
    missing = candidates
    (state.swept, state.counted, state.unreadable, state.isDoubtful) = (
      client.now.seconds, client.now.seconds, walk.unreadable, isShort
    )
    state.counting = nil
    state.oldest = part.samples.map(\.start.seconds).min() ?? walk.windows.dropLast().last?.from
    return PhoneStep(samples: part.samples, isLast: true)
  }

  // MARK: What is missing

  private mutating func beginSearch(if isWhole: Bool) { candidates = isWhole && sender != nil ? [] : nil }

  /// Searches the store for samples from this sender that start in a window but are not listed. The search ends if
  /// too many are missing, or if not all samples of the window arrived.
  private mutating func look(for part: Part, before end: Int64) async throws {
    guard let store, let sender, let found = candidates else { return }
    let gone = try await store.samples.unlisted(
      of: type.type, sentBy: sender, in: Timestamp(seconds: part.window.from)..<Timestamp(seconds: end),
      listed: Set(part.samples.map(\.uuid)), limit: DeletionInference.most + 1)
    let isPlausible =
      DeletionInference.isPlausible(gone.count, among: part.window.rows) && part.unreadable == 0 && !isShort
    candidates = isPlausible && found.count + gone.count <= DeletionInference.most ? found + gone : nil
  }

  // MARK: Counting

  /// Counts a window by requesting its last known row. If the row exists and no other follows, the count is
  /// unchanged.
  private mutating func count(_ index: Int) async throws -> PhoneStep {
    guard index < state.windows.count else {
      (state.counted, state.counting) = (client.now.seconds, nil)
      mode = .end
      return PhoneStep(isLast: true)
    }
    mode = .counting(index + 1)
    let (window, end) = (state.windows[index], state.windows[index - 1].from)
    guard window.from < end else { return PhoneStep() }
    let offset = max(0, window.rows - 1)
    guard let page = try await client.page(of: type, window.from..<end, offset: offset, limit: 1) else {
      return withdrawn()
    }
    if page.rows == min(1, window.rows), !page.hasMore {
      state.counting = window.from
      return PhoneStep()
    }
    return try await read(Stretch(replaced: index..<index + 1, from: window.from, end: end, next: index + 1))
  }
}
