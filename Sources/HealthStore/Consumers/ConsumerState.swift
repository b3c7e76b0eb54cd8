import HealthModel

/// What a consumer has been given, and what comes next. Values only: ``ConsumerReader`` reads what it says, and
/// ``ConsumerRow`` keeps it.
///
/// The change numbers up to ``position`` lie in stretches, and each stretch knows the filters under which it was read.
/// A filter that becomes wider leaves stretches that lack it: those are read again, without what their filters have let
/// through. A sample that is written anew gets a number beyond all stretches, so nothing moves between them.
struct ConsumerState: Codable, Hashable {
  struct Stretch: Codable, Hashable {
    /// Its last change number; it begins after the stretch before.
    var last: Int64
    var filters: [SampleFilter]
  }

  /// What is to be read next, along the change numbers.
  enum Step: Codable, Hashable {
    /// To be told as deletions: samples that pass any of these filters, and not ``filter``. They may be anywhere, because one
    /// that was written anew was not delivered there. Of deletions, those that are new.
    case withdraw(after: Int64, [SampleFilter])
    /// Samples of a stretch that pass ``filter``, and none of its own. A deletion has reached the consumer already.
    case complete(after: Int64, upTo: Int64, but: [SampleFilter])
    /// What is new: samples that pass ``filter``, and deletions of whatever the consumer may have.
    case follow(after: Int64, deletions: [SampleFilter])
  }

  /// Where the changes of a page are.
  enum Part: Codable, Hashable {
    /// Samples that the undoing of imports took back, up to a number of theirs.
    case undone(upTo: Int64)
    /// Up to a change number.
    case step(Step, upTo: Int64)
  }

  /// A page that was handed out and not committed, to be read again as it was.
  struct PageInHand: Codable, Hashable {
    /// See ``ConsumerState/page``.
    var page: UInt64
    var part: Part
    /// The consumer after it. One; an array, because a structure cannot hold one of its own kind.
    var after: [ConsumerState]
  }

  private(set) var filter: SampleFilter
  /// The last of the samples taken back by the undoing of imports that the consumer was told of.
  private(set) var undone: Int64
  private(set) var stretches: [Stretch] = []
  /// Every sample that the consumer may have passes one of these, or ``filter``.
  private(set) var known: [SampleFilter] = []
  /// The last change number up to which samples were taken back that do not pass ``filter``; `nil` where none are to be.
  private(set) var withdrawn: Int64?
  /// Covers ``position``; `nil` at the beginning.
  private(set) var epoch: Epoch?
  /// Names the last page that was committed; 0 before the first.
  private(set) var page: UInt64 = 0
  /// What was delivered before is void, and the consumer has not been told so yet.
  private(set) var isReset = false
  private(set) var inHand: PageInHand?

  /// - Parameter undone: the last of the samples taken back by the undoing of imports.
  init(filter: SampleFilter, undone: Int64, isReset: Bool = false) {
    (self.filter, self.undone, self.isReset) = (filter, undone, isReset)
  }

  /// The last change number that was dealt with, under whatever filter.
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

  /// Every sample that the consumer may have passes one of these.
  var possible: [SampleFilter] { Self.simplified(known + [filter]) }

  private var others: [SampleFilter] { known.filter { !filter.contains($0) } }

  /// Whether a page of such a part is noted before it is handed out: if another filter interrupts the taking back, it must be
  /// known how far that may have come.
  static func mustNote(_ part: Part) -> Bool {
    if case .step(.withdraw, _) = part { true } else { false }
  }

  // MARK: What changes it

  /// - Parameter withdraws: takes back what was delivered and does not pass the filter.
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

  /// Takes note that the step's changes up to a number were dealt with.
  ///
  /// - Parameters:
  ///   - isWhole: whether these were all that the step asks for.
  ///   - epoch: covers `last`.
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

  /// Takes note that the consumer knows of what the undoing of imports took back, up to a number of these.
  mutating func advance(undone: Int64) { self.undone = undone }

  /// Forgets all that was delivered.
  mutating func startOver(undone: Int64) {
    self = ConsumerState(filter: filter, undone: undone, isReset: true)
  }

  /// With a page handed out.
  func handingOut(_ page: UInt64, _ part: Part, after: ConsumerState) -> ConsumerState {
    var state = self
    state.inHand = PageInHand(page: page, part: part, after: [after])
    return state
  }

  /// Takes note that a page was dealt with.
  mutating func finish(page: UInt64) {
    self.page = page
    isReset = false
    inHand = nil
  }

  /// Goes back to a change number, after which everything is another by now.
  ///
  /// - Parameter epoch: covers `change`.
  mutating func rewind(to change: Int64, epoch: Epoch) {
    forgetPageInHand()
    guard change < position else { return }
    let reached = stretches.first { $0.last >= change }
    stretches.removeAll { $0.last >= change }
    if let reached, change > 0 { stretches.append(Stretch(last: change, filters: reached.filters)) }
    withdrawn = withdrawn.map { min($0, change) }
    self.epoch = change > 0 ? epoch : nil
  }

  /// What a page in hand takes back may be gone already where it was delivered.
  private mutating func forgetPageInHand() {
    if case .step(.withdraw, let last)? = inHand?.part { keep(only: filter, upTo: last) }
    inHand = nil
  }

  // MARK: Stretches

  private mutating func keep(only filter: SampleFilter, upTo last: Int64) {
    update(after: 0, upTo: last) { $0.map(filter.intersection) }
  }

  /// Changes the filters of all stretches between two change numbers, dividing those that lie across.
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

  /// Makes one of neighbours that agree.
  private mutating func merge() {
    stretches = stretches.reduce(into: []) { merged, stretch in
      if let previous = merged.last, Set(previous.filters) == Set(stretch.filters) { merged.removeLast() }
      merged.append(stretch)
    }
  }

  /// Without those that let nothing through, and those that another contains.
  private static func simplified(_ filters: [SampleFilter]) -> [SampleFilter] {
    filters.reduce(into: []) { kept, filter in
      if filter.isEmpty || kept.contains(where: { $0.contains(filter) }) { return }
      kept.removeAll(where: filter.contains)
      kept.append(filter)
    }
  }
}
