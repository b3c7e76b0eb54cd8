/// One of several copies of a sample: they have one UUID and may say different things of it, because each road tells of a
/// sample what it can (``SampleRoad``).
///
/// Copies have a total order, so that every machine that has met the same copies keeps the same, in whatever order they came:
/// a whole one before one of which something was left out (``SampleCut``), then by road, then the one that says more, then
/// by its text. When a sample started is told apart from that: the finest time that any copy tells is kept. Of a reading the newest
/// is kept, whatever its road.
package struct SampleCopy: Hashable, Sendable {
  package var sample: Sample
  package var road: SampleRoad

  package init(_ sample: Sample, road: SampleRoad) {
    (self.sample, self.road) = (sample, road)
  }

  /// What is to be kept of this copy and another one.
  ///
  /// Throws `EncodingError` for a sample that cannot be written as JSON.
  package func merged(with other: SampleCopy) throws -> SampleCopy {
    if sample.uuid.isOfReading { return try isNewer(than: other) ? self : other }
    var kept = try isBetter(than: other) ? self : other
    let finest = isFiner(than: other) ? sample : other.sample
    (kept.sample.start, kept.sample.end) = (finest.start, finest.end)
    return kept
  }

  private func isBetter(than other: SampleCopy) throws -> Bool {
    if sample.payload.isPartial != other.sample.payload.isPartial { return other.sample.payload.isPartial }
    if sample.payload.isPartial {
      if try sample.payload.isBetterCopy(than: other.sample.payload) { return true }
      if try other.sample.payload.isBetterCopy(than: sample.payload) { return false }
    }
    if road != other.road { return road.rank < other.road.rank }
    let (mine, theirs) = (try said, try other.said)
    if mine.count != theirs.count { return mine.count > theirs.count }
    return mine.text.utf8.lexicographicallyPrecedes(theirs.text.utf8)
  }

  /// Whether it is a newer reading than another with its identity. Of two as new, the one that says more values is, then the one
  /// with the larger number, because what a day adds up to grows.
  package func isNewer(than other: SampleCopy) throws -> Bool {
    if sample.created != other.sample.created {
      guard let mine = sample.created else { return false }
      return other.sample.created.map { mine > $0 } ?? true
    }
    let (mine, theirs) = (try said, try other.said)
    if mine.count != theirs.count { return mine.count > theirs.count }
    if case .quantity(let mine) = sample.payload, case .quantity(let theirs) = other.sample.payload,
      mine.unit.isExactly(theirs.unit), mine.value < theirs.value || theirs.value < mine.value
    {
      return mine.value > theirs.value
    }
    if !mine.text.isExactly(theirs.text) { return theirs.text.utf8.lexicographicallyPrecedes(mine.text.utf8) }
    return sample.end == other.sample.end ? road.rank < other.road.rank : sample.end > other.sample.end
  }

  /// What it says, but for its time, and how many values that is.
  private var said: (text: String, count: Int) {
    get throws {
      var timeless = sample
      (timeless.start, timeless.end) = (Timestamp(microseconds: 0), Timestamp(microseconds: 0))
      let text = try CanonicalJSON.encode(timeless)
      return (text, CanonicalJSON.leafCount(of: text))
    }
  }

  /// Whether its time is told more exactly than that of another; of two as exact, the earlier one is taken.
  private func isFiner(than other: SampleCopy) -> Bool {
    let (mine, theirs) = (sample, other.sample)
    if mine.start != theirs.start { return mine.start.isFiner(than: theirs.start) }
    return mine.end != theirs.end && mine.end.isFiner(than: theirs.end)
  }
}

extension Timestamp {
  /// Whether it is told to more digits than another instant, or to as many and is earlier.
  package func isFiner(than other: Timestamp) -> Bool {
    fineness == other.fineness ? self < other : fineness > other.fineness
  }

  private var fineness: Int {
    microseconds % 1_000_000 == 0 ? 0 : microseconds % 1_000 == 0 ? 1 : 2
  }
}
