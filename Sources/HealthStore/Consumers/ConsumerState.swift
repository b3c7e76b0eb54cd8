import HealthModel

/// The progress of a consumer: what it has received, and what comes next. A plain value that ``ConsumerReader``
/// interprets and ``ConsumerRow`` stores.
///
/// The change numbers up to ``position`` are divided into stretches, each with the filters under which it was read.
/// After a filter becomes wider, stretches lack it: they are read again, without the samples that passed their
/// filters. A sample that is written again gets a number beyond all stretches, so no sample moves between stretches.
struct ConsumerState: Codable, Hashable {
  struct Stretch: Codable, Hashable {
    /// The last change number. The stretch begins after the previous one.
    var last: Int64
    var filters: [SampleFilter]
  }

  /// The next kind of read along the change numbers.
  enum Step: Codable, Hashable {
    /// A read of samples that pass any of these filters but not ``filter``, as deletions. They may have any number,
    /// because a sample that was written again was not delivered under its new number. Only new deletions are read.
    case withdraw(after: Int64, [SampleFilter])
    /// A read of the samples of a stretch that pass ``filter`` and none of the stretch's own filters. Deletions have
    /// reached the consumer already.
    case complete(after: Int64, upTo: Int64, but: [SampleFilter])
    /// A read of new changes: samples that pass ``filter``, and deletions of anything that the consumer may have.
    case follow(after: Int64, deletions: [SampleFilter])
  }

  /// The part of the store that a page covers.
  enum Part: Codable, Hashable {
    /// Samples that undone imports have removed, up to a number of their own sequence.
    case undone(upTo: Int64)
    /// The changes of a step, up to a change number.
    case step(Step, upTo: Int64)
  }

  /// A page that was handed out and not committed, and that must be read again in the same form.
  struct PageInHand: Codable, Hashable {
    /// The key of the page; see ``ConsumerState/page``.
    var page: UInt64
    var part: Part
    /// The consumer's state after the page. An array with one element, because a structure cannot contain itself.
    var after: [ConsumerState]
  }

  private(set) var filter: SampleFilter
  /// The number of the last sample removed by undone imports that the consumer was told of.
  private(set) var undone: Int64
  private(set) var stretches: [Stretch] = []
  /// Earlier filters. Every sample that the consumer may have passes one of these, or ``filter``.
  private(set) var known: [SampleFilter] = []
  /// The change number up to which samples that do not pass ``filter`` were withdrawn, or `nil` if none are to be.
  private(set) var withdrawn: Int64?
  /// The epoch that covers ``position``, or `nil` at the beginning.
  private(set) var epoch: Epoch?
  /// The key of the last committed page, or 0 before the first.
  private(set) var page: UInt64 = 0
  /// Whether earlier deliveries are invalid and the consumer has not been told so yet.
  private(set) var isReset = false
  private(set) var inHand: PageInHand?

  /// Creates a consumer at the beginning.
  ///
  /// - Parameter undone: the number of the last sample removed by undone imports.
  init(filter: SampleFilter, undone: Int64, isReset: Bool = false) {
    (self.filter, self.undone, self.isReset) = (filter, undone, isReset)
  }

  /// The last change number that was processed, under any filter.
  var position: Int64 { stretches.last?.last ?? 0 }

  var step: Step {
    if let withdrawn { return .withdraw(after: withdrawn, others) }
    var first: Int64 = 0
    for stretch in stretches where !filter.isEmpty {
      if !stretch.filters.contains(where: { $0.contains(filter) }) {
        return .complete(after: first, upTo: stretch.last, but: stretch.filters)
      }
      first = stretch.last
    }
    return .follow(after: position, deletions: possible)
  }

  /// The filters that every sample which the consumer may have passes at least one of.
  var possible: [SampleFilter] { Self.simplified(known + [filter]) }

  private var others: [SampleFilter] { known.filter { !filter.contains($0) } }

  /// Returns whether a page of this part must be saved before it is handed out. If another filter interrupts a
  /// withdrawal, the state must show how far it may have come.
  static func mustNote(_ part: Part) -> Bool {
    if case .step(.withdraw, _) = part { true } else { false }
  }

  // MARK: What changes it

  /// Returns the state with another filter.
  ///
  /// - Parameter withdraws: whether to withdraw delivered samples that do not pass the filter.
  func selecting(_ filter: SampleFilter, withdraws: Bool) -> ConsumerState {
    var state = self
    state.select(filter, withdraws: withdraws)
    return state
  }

  private mutating func select(_ filter: SampleFilter, withdraws: Bool) {
    if filter != self.filter {
      if let withdrawn { keep(only: self.filter, upTo: withdrawn) }
      forgetPageInHand()
      withdrawn = nil
      known = possible
      self.filter = filter
    }
    if withdraws, withdrawn == nil, !others.isEmpty { (withdrawn, inHand) = (0, nil) }
  }

  /// Records that a step's changes up to a number were processed.
  ///
  /// - Parameters:
  ///   - isWhole: whether these were all changes of the step.
  ///   - epoch: the epoch that covers `last`.
  mutating func advance(_ step: Step, to last: Int64, isWhole: Bool, epoch: Epoch) {
    switch step {
    case .withdraw:
      withdrawn = last
      guard isWhole else { return }
      keep(only: filter, upTo: .max)
      known = []
      withdrawn = nil
    case .complete(let first, _, _):
      update(after: first, upTo: last) { [filter] in $0 + [filter] }
    case .follow(let first, _):
      guard last > first else { return }
      stretches.append(Stretch(last: last, filters: [filter]))
      self.epoch = epoch
      merge()
    }
  }

  /// Records that the consumer was told of the samples removed by undone imports, up to a number of their sequence.
  mutating func advance(undone: Int64) { self.undone = undone }

  /// Discards all progress.
  mutating func startOver(undone: Int64) {
    self = ConsumerState(filter: filter, undone: undone, isReset: true)
  }

  /// Returns the state with a page handed out.
  func handingOut(_ page: UInt64, _ part: Part, after: ConsumerState) -> ConsumerState {
    var state = self
    state.inHand = PageInHand(page: page, part: part, after: [after])
    return state
  }

  /// Records that a page was processed.
  mutating func finish(page: UInt64) {
    self.page = page
    isReset = false
    inHand = nil
  }

  /// Goes back to a change number, after which all changes differ.
  ///
  /// - Parameter epoch: the epoch that covers `change`.
  mutating func rewind(to change: Int64, epoch: Epoch) {
    forgetPageInHand()
    guard change < position else { return }
    let reached = stretches.first { $0.last >= change }
    stretches.removeAll { $0.last >= change }
    if let reached, change > 0 { stretches.append(Stretch(last: change, filters: reached.filters)) }
    withdrawn = withdrawn.map { min($0, change) }
    self.epoch = change > 0 ? epoch : nil
  }

  /// Discards the page in hand. The destination may already have deleted what the page withdraws.
  private mutating func forgetPageInHand() {
    if case .step(.withdraw, let last)? = inHand?.part { keep(only: filter, upTo: last) }
    inHand = nil
  }

  // MARK: Stretches

  private mutating func keep(only filter: SampleFilter, upTo last: Int64) {
    update(after: 0, upTo: last) { $0.map(filter.intersection) }
  }

  /// Changes the filters of all stretches between two change numbers. Stretches across the bounds are divided.
  private mutating func update(after start: Int64, upTo end: Int64, _ body: ([SampleFilter]) -> [SampleFilter]) {
    var updated: [Stretch] = []
    var first: Int64 = 0
    for stretch in stretches {
      for last in [start, end, stretch.last] where last > first && last <= stretch.last {
        let isMeant = first >= start && last <= end
        let filters = isMeant ? Self.simplified(body(stretch.filters)) : stretch.filters
        updated.append(Stretch(last: last, filters: filters))
        first = last
      }
    }
    stretches = updated
    merge()
  }

  /// Merges consecutive stretches with equal filters.
  private mutating func merge() {
    stretches = stretches.reduce(into: []) { merged, stretch in
      if let previous = merged.last, Set(previous.filters) == Set(stretch.filters) { merged.removeLast() }
      merged.append(stretch)
    }
  }

  /// Returns the filters without empty ones and without those that another filter contains.
  private static func simplified(_ filters: [SampleFilter]) -> [SampleFilter] {
    filters.reduce(into: []) { kept, filter in
      if filter.isEmpty || kept.contains(where: { $0.contains(filter) }) { return }
      kept.removeAll(where: filter.contains)
      kept.append(filter)
    }
  }
}
