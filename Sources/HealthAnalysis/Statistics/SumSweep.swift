import HeapModule

/// A sweep that sums samples of a cumulative type by bucket. Where several sources have data, only the highest-ranked
/// counts. A sample across an edge counts on both sides in proportion to its time there.
///
/// Samples must be added in order of their starts. Each is processed when it begins, when it ends, and at the edges
/// of buckets in between.
struct SumSweep {
  /// The sum of a bucket.
  struct Sum: Hashable, Sendable {
    var value = 0.0
    /// The number of samples that begin here but were not counted because their source has an identical sample.
    var twins = 0
    /// The time for which each source counted, by rank, in microseconds; 0 for instantaneous samples only.
    var covered: [Int: Int64] = [:]
  }

  /// The maximum number of concurrent samples of a source that are tracked one by one. Further samples are
  /// aggregated.
  private static let fewLimit = 64

  /// A sample that has begun and not ended.
  private struct Active {
    var id: Int
    var value: Double
    var length: Double
    /// The value of ``Source/counted`` when the sample was last settled.
    var since: Int64

    /// Returns the sample's contribution since it was last settled, or `nil` if there is none.
    mutating func settle(_ counted: Int64) -> Double? {
      let share = Double(counted - since)
      since = counted
      if share <= 0 { return nil }
      // A sample that counts as a whole contributes exactly its value.
      return share == length ? value : value * share / length
    }
  }

  private struct Source {
    var few: [Active] = []
    var crowd = Crowd()
    /// The time for which this source was the highest with data, in microseconds.
    var counted: Int64 = 0
    var isEmpty: Bool { few.isEmpty && crowd.count == 0 }
  }

  /// The samples beyond the limit, which are settled together.
  private struct Crowd {
    var count = 0
    /// The sum of their values per microsecond.
    var rate = 0.0
    var since: Int64 = 0
  }

  private struct End: Comparable {
    var time: Int64
    var id: Int
    var rank: Int
    /// The rate of a sample in the crowd.
    var rate: Double?

    static func < (one: Self, other: Self) -> Bool { one.time < other.time }
    static func == (one: Self, other: Self) -> Bool { one.time == other.time }
  }

  private struct Twin: Hashable {
    var rank: Int
    var end: Int64
    var value: Double
    var unit: Int?
  }

  private struct Instant {
    var rank: Int
    var value: Double
  }

  private let edges: [Int64]
  private var sources: [Source]
  private var ends = Heap<End>()
  /// The ranks with current samples, and some that had samples before.
  private var ranks = Heap<Int>()
  /// The ranks that have counted since the last edge.
  private var unsettled: Set<Int> = []
  private var instants: [Instant] = []
  private var twins: Set<Twin> = []
  /// The number of duplicates that begin at ``lastStart``. They are reported in the bucket in which they begin.
  private var pendingTwins = 0
  private var lastStart = Int64.min
  private var time: Int64
  private var bucket = 0
  private var nextID = 0
  private var current = Sum()
  /// Whether a sample has touched the current bucket.
  private var isTouched = false
  private var sums: [(index: Int, sum: Sum)] = []

  /// Creates a sweep.
  ///
  /// - Parameters:
  ///   - edges: the edges of the buckets in microseconds, ascending; at least two.
  ///   - ranks: the number of ranks.
  init(edges: [Int64], ranks: Int) {
    self.edges = edges
    sources = Array(repeating: Source(), count: ranks)
    time = edges[0]
  }

  /// Adds a sample.
  ///
  /// - Parameters:
  ///   - start: microseconds; not before that of the previous sample.
  ///   - rank: the rank of the source; 0 is the highest.
  ///   - unit: the unit as stated by the sample. Samples with different units are not duplicates.
  mutating func add(start: Int64, end: Int64, value: Double, rank: Int, unit: Int? = nil) {
    if start != lastStart { flush(at: start) }
    lastStart = start
    if start == end {
      instants.append(Instant(rank: rank, value: value))
      return
    }
    guard end > edges[0], start < edges[edges.count - 1] else { return }
    guard twins.insert(Twin(rank: rank, end: end, value: value, unit: unit)).inserted else {
      if start >= edges[0] { pendingTwins += 1 }
      return
    }
    begin(Active(id: nextID, value: value, length: Double(end) - Double(start), since: 0), rank: rank, end: end)
    nextID += 1
  }

  /// Returns the buckets that any sample touched, in order.
  mutating func finish() -> [(index: Int, sum: Sum)] {
    flush(at: edges[edges.count - 1])
    settle()
    close()
    return sums
  }

  // MARK: Time

  /// Processes all samples that begin at the same instant. Instantaneous samples count unless a sample of a
  /// higher-ranked source is current.
  private mutating func flush(at next: Int64) {
    let twinCount = pendingTwins
    if twinCount > 0 { touch { $0.twins += twinCount } }
    for instant in instants where lastStart >= edges[0] && lastStart < edges[edges.count - 1] {
      let highest = top()
      touch { sum in
        guard highest.map({ instant.rank <= $0 }) ?? true else { return }
        sum.value += instant.value
        sum.covered[instant.rank, default: 0] += 0
      }
    }
    instants.removeAll(keepingCapacity: true)
    twins.removeAll(keepingCapacity: true)
    pendingTwins = 0
    advance(to: min(next, edges[edges.count - 1]))
  }

  private mutating func advance(to target: Int64) {
    while time < target {
      guard let rank = top() else {
        // No source has data up to the target.
        move(to: target)
        return
      }
      let end = ends.min?.time ?? target
      let next = min(target, end, edges[bucket + 1])
      if next > time {
        let elapsed = next - time
        sources[rank].counted += elapsed
        unsettled.insert(rank)
        touch { $0.covered[rank, default: 0] += elapsed }
        time = next
      }
      while let first = ends.min, first.time <= time {
        ends.removeMin()
        self.end(first)
      }
      if time == edges[bucket + 1] { move(to: time) }
    }
  }

  /// Moves the time forward and closes the current bucket if the time leaves it.
  private mutating func move(to target: Int64) {
    time = target
    guard target >= edges[bucket + 1] else { return }
    settle()
    close()
    guard target < edges[edges.count - 1] else { return }
    bucket = edges.lastIndex(notAfter: target)
  }

  private mutating func touch(_ change: (inout Sum) -> Void) {
    isTouched = true
    change(&current)
  }

  private mutating func close() {
    if isTouched { sums.append((bucket, current)) }
    (current, isTouched) = (Sum(), false)
  }

  /// Returns the highest rank that has data.
  private mutating func top() -> Int? {
    while let rank = ranks.min {
      if !sources[rank].isEmpty { return rank }
      ranks.removeMin()
    }
    return nil
  }

  // MARK: Samples

  private mutating func begin(_ sample: Active, rank: Int, end: Int64) {
    if sources[rank].isEmpty { ranks.insert(rank) }
    var sample = sample
    sample.since = sources[rank].counted
    if sources[rank].few.count < Self.fewLimit {
      sources[rank].few.append(sample)
      ends.insert(End(time: end, id: sample.id, rank: rank, rate: nil))
    } else {
      settleCrowd(rank)
      let rate = sample.value / sample.length
      sources[rank].crowd.count += 1
      sources[rank].crowd.rate += rate
      ends.insert(End(time: end, id: sample.id, rank: rank, rate: rate))
    }
  }

  private mutating func end(_ end: End) {
    if let rate = end.rate {
      settleCrowd(end.rank)
      sources[end.rank].crowd.count -= 1
      sources[end.rank].crowd.rate -= rate
      if sources[end.rank].crowd.count == 0 { sources[end.rank].crowd.rate = 0 }
    } else if let index = sources[end.rank].few.firstIndex(where: { $0.id == end.id }) {
      var sample = sources[end.rank].few.remove(at: index)
      add(sample.settle(sources[end.rank].counted))
    }
  }

  /// Adds the contributions of all samples since they were last settled.
  private mutating func settle() {
    for rank in unsettled {
      for index in sources[rank].few.indices {
        add(sources[rank].few[index].settle(sources[rank].counted))
      }
      settleCrowd(rank)
    }
    unsettled.removeAll(keepingCapacity: true)
  }

  private mutating func add(_ part: Double?) {
    if let part { touch { $0.value += part } }
  }

  private mutating func settleCrowd(_ rank: Int) {
    let crowd = sources[rank].crowd
    sources[rank].crowd.since = sources[rank].counted
    let share = sources[rank].counted - crowd.since
    guard crowd.count > 0, share > 0 else { return }
    touch { $0.value += crowd.rate * Double(share) }
  }
}
