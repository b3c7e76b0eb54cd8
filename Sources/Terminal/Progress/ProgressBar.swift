import Synchronization

/// A line on standard error that is repainted while work goes on, and removed when it is done.
///
/// Silent if standard error is no terminal. Safe to call from any thread, and cheap enough (a lock and a look at the
/// clock) for every batch. It paints at most ten times a second, and skips a painting that would block. After some
/// seconds without news it shows how long nothing has come.
///
/// ```swift
/// func read(_ batches: AsyncStream<[UInt8]>) async {
///   let progress = ProgressBar(label: "Pulling", totalItems: 1_204_331, patience: .seconds(30))
///   defer { progress.finish() }
///   for await batch in batches { progress.advance(items: 5_000, bytes: batch.count) }
/// }
/// ```
public final class ProgressBar: Sendable {
  private struct State: Sendable {
    var line: ProgressLine
    var itemRate: RateEstimator
    var byteRate: RateEstimator
    var nextPainting: Duration
    var lastNews: Duration
    var isPainted = false
    var isFinished = false
    /// The task that repaints while nothing comes; `nil` in tests, which have a clock of their own.
    var ticker: Task<Void, Never>?
  }

  /// The place where a bar paints, which tests replace.
  struct Surface: Sendable {
    var style: Style
    var usesUTF8: Bool
    /// The number of columns, read before every painting, because windows are resized.
    var columns: @Sendable () -> Int
    /// The reading of a monotonic clock.
    var now: @Sendable () -> Duration
    var write: @Sendable (String) -> Void
  }

  private static let interval = Duration.milliseconds(100)
  /// The silence after which the bar shows how long nothing has come.
  private static let noticeableSilence = Duration.seconds(3)
  private static let erasingToEnd = "\u{1b}[K"

  private let state: Mutex<State>
  /// The place to paint; `nil` for a silent bar.
  private let surface: Surface?
  private let log: @Sendable (String) -> Void

  /// Creates a bar.
  ///
  /// - Parameters:
  ///   - label: The name of the work; shown escaped.
  ///   - totalItems: The number of items; `nil` while unknown, see ``setTotal(items:)``.
  ///   - totalBytes: The number of bytes, used to report progress while the number of items is unknown.
  ///   - patience: The silence after which the caller gives up. A bar with patience is shown before anything has
  ///     come.
  public convenience init(
    label: String, totalItems: Int? = nil, totalBytes: Int? = nil, patience: Duration? = nil,
    capabilities: TerminalCapabilities = .current(), clock: any Clock<Duration> = ContinuousClock()
  ) {
    let output = OutputWriter.standardError
    let surface = Surface(
      style: Style(for: .error, of: capabilities),
      usesUTF8: capabilities.usesUTF8,
      columns: { TerminalSize.ofWindow(of: [.error])?.columns ?? capabilities.size.columns },
      now: clock.stopwatch(),
      // A progress bar that cannot be painted is no reason to stop the work.
      write: { text in if output.acceptsOutput() { try? output.write(text) } })
    self.init(
      label: label, totalItems: totalItems, totalBytes: totalBytes, patience: patience,
      surface: capabilities.allowsEscapeSequences(on: .error) ? surface : nil,
      log: { try? output.write($0) })
    guard self.surface != nil else { return }
    let ticker = Task { [weak self] in
      while !Task.isCancelled {
        try? await clock.sleep(for: .seconds(1))
        guard let self else { return }
        self.tick()
      }
    }
    state.withLock { $0.ticker = ticker }
  }

  init(
    label: String, totalItems: Int?, totalBytes: Int? = nil, patience: Duration? = nil, surface: Surface?,
    log: @escaping @Sendable (String) -> Void
  ) {
    let now = surface?.now() ?? .zero
    self.surface = surface
    self.log = log
    state = Mutex(
      State(
        line: ProgressLine(
          label: PlainText.escaped(label), totalItems: totalItems, totalBytes: totalBytes, patience: patience),
        itemRate: RateEstimator(seconds: now / .seconds(1)),
        byteRate: RateEstimator(seconds: now / .seconds(1)),
        nextPainting: now,
        lastNews: now))
  }

  deinit {
    finish()
  }

  /// Adds finished items and bytes.
  public func advance(items: Int, bytes: Int = 0) {
    change { line in
      line.items += items
      line.bytes += bytes
    }
  }

  /// Sets the numbers of all finished items and bytes.
  public func update(items: Int, bytes: Int) {
    change { line in
      line.items = items
      line.bytes = bytes
    }
  }

  /// Sets the number of all received bytes, which may be long before they make another item.
  public func update(bytes: Int) {
    change { $0.bytes = bytes }
  }

  /// Notes that something has come, although none of the numbers has changed yet.
  public func hear() {
    change(isNews: true) { _ in }
  }

  /// Sets the total number of items; `nil` if it is unknown.
  public func setTotal(items: Int?) {
    change { $0.totalItems = items }
  }

  /// Sets the name of the current work; shown escaped.
  public func setLabel(_ label: String) {
    change(isNews: true) { $0.label = PlainText.escaped(label) }
  }

  /// Removes the bar from the screen while `body` writes there, and repaints it afterwards.
  ///
  /// - Parameter body: A closure that must not use the bar.
  public func aside(_ body: () throws -> Void) rethrows {
    try state.withLock { state in
      if state.isPainted { surface?.write("\r" + ProgressBar.erasingToEnd) }
      defer { if state.isPainted, let surface { paint(state, on: surface) } }
      try body()
    }
  }

  /// Repaints the bar after a second, perhaps without news. A bar that is not on the screen stays hidden unless it
  /// has patience to count.
  func tick() {
    guard state.withLock({ $0.isPainted || $0.line.patience != nil }) else { return }
    change { _ in }
  }

  /// Writes a line above the bar, or just the line when the bar is silent.
  public func note(_ line: String) {
    state.withLock { state in
      if state.isPainted { surface?.write("\r" + ProgressBar.erasingToEnd) }
      log(line + "\n")
      if state.isPainted, let surface { paint(state, on: surface) }
    }
  }

  /// Takes the bar off the screen for good. Later calls do nothing.
  public func finish() {
    state.withLock { state in
      if state.isPainted { surface?.write("\r" + ProgressBar.erasingToEnd) }
      state.isPainted = false
      state.isFinished = true
      state.ticker?.cancel()
    }
  }

  private func change(isNews: Bool = false, _ edit: (inout ProgressLine) -> Void) {
    guard let surface else { return }
    state.withLock { state in
      guard !state.isFinished else { return }
      let before = (state.line.items, state.line.bytes)
      edit(&state.line)
      let now = surface.now()
      if isNews || before != (state.line.items, state.line.bytes) { state.lastNews = now }
      guard now >= state.nextPainting else { return }
      state.nextPainting = now + ProgressBar.interval
      state.itemRate.record(count: state.line.items, seconds: now / .seconds(1))
      state.byteRate.record(count: state.line.bytes, seconds: now / .seconds(1))
      state.line.itemsPerSecond = state.itemRate.perSecond
      state.line.bytesPerSecond = state.byteRate.perSecond
      let silence = now - state.lastNews
      state.line.silence = silence >= ProgressBar.noticeableSilence ? silence : nil
      state.isPainted = true
      paint(state, on: surface)
    }
  }

  private func paint(_ state: State, on surface: Surface) {
    let line = state.line.rendered(columns: surface.columns(), style: surface.style, usesUTF8: surface.usesUTF8)
    surface.write("\r" + line + ProgressBar.erasingToEnd)
  }
}
