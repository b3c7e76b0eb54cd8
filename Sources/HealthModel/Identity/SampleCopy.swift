/// A copy of a sample, as received by a particular road (``SampleRoad``). Copies of a sample share its UUID but may
/// differ in detail.
///
/// Copies are totally ordered, so that every machine keeps the same copy regardless of arrival order: complete before
/// redacted (``SampleRedaction``), then by road, then by the number of values, then by text. The start and end are chosen
/// separately: the most precise times of any copy are kept. For readings the newest copy is kept, whatever its road.
package struct SampleCopy: Hashable, Sendable {
  package var sample: Sample
  package var road: SampleRoad

  package init(_ sample: Sample, road: SampleRoad) {
    (self.sample, self.road) = (sample, road)
  }

  /// Returns the copy to keep out of this copy and another.
  ///
  /// - Throws: `EncodingError` for a sample that cannot be written as JSON.
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

  /// Returns whether this is a newer reading than another with the same identity. If both are equally new, the
  /// reading with more values wins, then the larger number, because a day's total grows.
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

  /// The sample's JSON without its start and end, and the number of values in it.
  private var said: (text: String, count: Int) {
    get throws {
      var timeless = sample
      (timeless.start, timeless.end) = (Timestamp(microseconds: 0), Timestamp(microseconds: 0))
      let text = try CanonicalJSON.encode(timeless)
      return (text, CanonicalJSON.leafCount(of: text))
    }
  }

  /// Returns whether this copy's times are more precise than those of another. If both are equally precise, the
  /// earlier time wins.
  private func isFiner(than other: SampleCopy) -> Bool {
    let (mine, theirs) = (sample, other.sample)
    if mine.start != theirs.start { return mine.start.isFiner(than: theirs.start) }
    return mine.end != theirs.end && mine.end.isFiner(than: theirs.end)
  }
}

extension Timestamp {
  /// Returns whether this instant has a finer fraction of a second than another, or is earlier at the same precision.
  package func isFiner(than other: Timestamp) -> Bool {
    fineness == other.fineness ? self < other : fineness > other.fineness
  }

  private var fineness: Int {
    microseconds % 1_000_000 == 0 ? 0 : microseconds % 1_000 == 0 ? 1 : 2
  }
}
