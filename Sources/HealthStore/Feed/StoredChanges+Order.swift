import HealthModel

/// The merging of samples and tombstones by change number. Both lists are in ascending order, and no number is in
/// both.
extension StoredChanges {
  var isEmpty: Bool { samples.isEmpty && tombstones.isEmpty }

  var lastNumber: Int64? {
    [sampleNumbers.last, tombstoneNumbers.last].compactMap(\.self).max()
  }

  /// Keeps the `limit` changes with the lowest numbers, and returns their count.
  mutating func keepFirst(_ limit: Int) -> Int {
    let count = samples.count + tombstones.count
    guard count > limit else { return count }
    var kept = (samples: 0, tombstones: 0)
    eachInOrder(limit) { isSample, _ in
      if isSample { kept.samples += 1 } else { kept.tombstones += 1 }
    }
    keepFirst(samples: kept.samples, tombstones: kept.tombstones)
    return limit
  }

  /// Removes the samples after the last tombstone.
  mutating func dropSamplesAfterTombstones() {
    guard let last = tombstoneNumbers.last else { return }
    keepFirst(samples: sampleNumbers.prefix { $0 < last }.count, tombstones: tombstones.count)
  }

  /// Returns the changes in the order in which they happened.
  func inOrder() throws -> [Change] {
    try expanded { changes, expander in
      var ordered: [Change] = []
      ordered.reserveCapacity(changes.count)
      try eachInOrder(changes.count) { isSample, index in
        ordered.append(
          isSample
            ? .added(try expander.sample(changes.samples[index]))
            : .deleted(expander.tombstone(changes.tombstones[index])))
      }
      return ordered
    }
  }

  private func eachInOrder(_ limit: Int, _ body: (_ isSample: Bool, _ index: Int) throws -> Void) rethrows {
    var (i, j) = (0, 0)
    while i + j < limit {
      if j == tombstoneNumbers.count || (i < sampleNumbers.count && sampleNumbers[i] < tombstoneNumbers[j]) {
        try body(true, i)
        i += 1
      } else {
        try body(false, j)
        j += 1
      }
    }
  }
}
