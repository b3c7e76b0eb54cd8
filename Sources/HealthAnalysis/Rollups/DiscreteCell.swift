import HealthModel

/// The values of a discrete type in a period.
///
/// A sample belongs to every period that it overlaps but must count only once in any. Therefore samples that begin in
/// a period are kept separate from those that enter it from before: a longer period has all samples that begin in its
/// parts, and those that enter its first part.
struct DiscreteCell: RollupCell, Hashable {
  /// A tally of samples.
  struct Tally: Hashable {
    var count = 0
    var sum = 0.0
    var minimum = Double.infinity
    var maximum = -Double.infinity
    /// The sample that ends last; among several, the one that starts last.
    var last = DiscreteSweep.Latest(end: .min, start: .min, value: 0)

    mutating func add(_ sample: DiscreteSweep.Latest) {
      count += 1
      sum += sample.value
      minimum = min(minimum, sample.value)
      maximum = max(maximum, sample.value)
      if last < sample || count == 1 { last = sample }
    }

    mutating func add(_ other: Tally) {
      guard other.count > 0 else { return }
      if count == 0 || last < other.last { last = other.last }
      count += other.count
      sum += other.sum
      minimum = min(minimum, other.minimum)
      maximum = max(maximum, other.maximum)
    }
  }

  var begun = Tally()
  var entering = Tally()
  /// The sum of values weighted by their duration in microseconds; for sounds, of their powers.
  var weighted = 0.0
  var weight = 0.0

  var isEmpty: Bool { begun.count == 0 && entering.count == 0 && weight == 0 }

  init() {}

  mutating func forgetBefore() { entering = Tally() }

  mutating func append(_ next: DiscreteCell) {
    begun.add(next.begun)
    weighted += next.weighted
    weight += next.weight
  }

  mutating func weigh(_ value: Double, _ length: Double) {
    weighted += value * length
    weight += length
  }

  /// Returns the values of the cell by itself, or `nil` if it has no samples.
  func values(_ aggregation: SampleTypeCatalogue.Aggregation) -> DiscreteValues? {
    var all = begun
    all.add(entering)
    guard all.count > 0 else { return nil }
    let meanOfSamples = all.sum / Double(all.count)
    return DiscreteValues(
      minimum: all.minimum, maximum: all.maximum,
      mean: aggregation.mean(ofSamples: meanOfSamples, weighted: weighted, weight: weight),
      meanOfSamples: meanOfSamples,
      count: all.count, last: all.last.value)
  }

  private static let bits: (begun: UInt8, entering: UInt8, weight: UInt8) = (1, 2, 4)

  func write(to writer: inout CellWriter, start: Int64) {
    writer.write(
      byte: (begun.count > 0 ? Self.bits.begun : 0) | (entering.count > 0 ? Self.bits.entering : 0)
        | (weight != 0 ? Self.bits.weight : 0))
    for tally in [begun, entering] where tally.count > 0 { tally.write(to: &writer, start) }
    if weight != 0 {
      writer.write(weighted)
      writer.write(weight)
    }
  }

  init(from reader: inout CellReader, start: Int64) throws(RollupDamage) {
    let flags = try reader.byte()
    if flags & Self.bits.begun != 0 { begun = try Tally(from: &reader, start) }
    if flags & Self.bits.entering != 0 { entering = try Tally(from: &reader, start) }
    if flags & Self.bits.weight != 0 { (weighted, weight) = (try reader.double(), try reader.double()) }
  }
}

extension DiscreteCell.Tally {
  fileprivate func write(to writer: inout CellWriter, _ start: Int64) {
    writer.write(UInt64(count))
    writer.write(minimum)
    writer.write(last.end &- start)
    writer.write(last.end &- last.start)
    // For a single sample, sum, maximum and last value equal the minimum.
    if count == 1 { return }
    writer.write(sum)
    writer.write(maximum)
    writer.write(last.value)
  }

  fileprivate init(from reader: inout CellReader, _ start: Int64) throws(RollupDamage) {
    guard let count = Int(exactly: try reader.unsigned()), 0 < count, count < 1 << 48 else { throw RollupDamage() }
    self.count = count
    minimum = try reader.double()
    let end = start &+ (try reader.integer())
    last = DiscreteSweep.Latest(end: end, start: end &- (try reader.integer()), value: minimum)
    (sum, maximum) = (minimum, minimum)
    if count == 1 { return }
    sum = try reader.double()
    maximum = try reader.double()
    last.value = try reader.double()
  }
}
