import Foundation
import HealthModel

/// A sequence of consecutive samples of one type during a write.
struct SampleRun {
  /// The row id of the type.
  let type: Int64
  var tally: TypeTally
  /// The indices of samples that still have to be inserted.
  private(set) var waiting: [Int] = []
  /// The HealthKit UUIDs of the waiting samples. A second copy with another start gets no row of its own.
  private(set) var waitingOriginals: Set<UUID> = []
  /// Whether the type had samples of only one family before, and no deletions.
  var isPlain: Bool

  init(type: Int64, tally: TypeTally) {
    (self.type, self.tally) = (type, tally)
    isPlain = !tally.isMixed
    waiting.reserveCapacity(SampleInsertion.rowLimit)
  }

  mutating func wait(_ index: Int, _ uuid: UUID) {
    waiting.append(index)
    if !uuid.isDerived { waitingOriginals.insert(uuid) }
  }

  mutating func removeWaiting() {
    waiting.removeAll(keepingCapacity: true)
    waitingOriginals.removeAll(keepingCapacity: true)
  }
}

/// The seconds in which samples were added or removed, with their number. The visibility of their samples has to be
/// updated.
struct TouchedSeconds {
  private struct Place: Hashable, Comparable {
    var type: Int64
    var second: Int64

    static func < (one: Self, other: Self) -> Bool { (one.type, one.second) < (other.type, other.second) }
  }

  private var counts: [Place: Int] = [:]

  mutating func touch(_ start: Timestamp, _ type: Int64) {
    counts[Place(type: type, second: start.seconds), default: 0] += 1
  }

  /// Updates the visibility, by type and second, and clears the seconds.
  ///
  /// - Parameters:
  ///   - first: the counter before the transaction.
  ///   - counter: increased for each sample that becomes shown or hidden.
  mutating func update(_ visibility: inout Visibility, after first: Int64, counter: inout Int64) throws {
    for (place, count) in counts.sorted(by: { $0.key < $1.key }) {
      try visibility.update(
        type: place.type, second: place.second, touched: count, after: first, counter: &counter)
    }
    counts.removeAll(keepingCapacity: true)
  }
}
