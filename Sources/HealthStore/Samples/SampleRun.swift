import Foundation
import HealthModel

/// Neighbouring samples of one type, on their way into the store.
struct SampleRun {
  /// The row id of the type.
  let type: Int64
  var tally: TypeTally
  /// The indices of samples that are still to be inserted.
  private(set) var waiting: [Int] = []
  /// HealthKit's UUIDs among those of the waiting samples. A second copy, with another start, is no row of its own.
  private(set) var waitingOriginals: Set<UUID> = []
  /// Whether the type had only samples of one family before, and no deletions.
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

/// Seconds in which something was added or removed whose visibility is to be decided anew, and how much.
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

  /// Decides anew, by type and second, and forgets them.
  ///
  /// - Parameters:
  ///   - first: the counter before the transaction.
  ///   - counter: gives a number to each sample that is shown or hidden from now on.
  mutating func update(_ visibility: inout Visibility, after first: Int64, counter: inout Int64) throws {
    for (place, count) in counts.sorted(by: { $0.key < $1.key }) {
      try visibility.update(
        type: place.type, second: place.second, touched: count, after: first, counter: &counter)
    }
    counts.removeAll(keepingCapacity: true)
  }
}
