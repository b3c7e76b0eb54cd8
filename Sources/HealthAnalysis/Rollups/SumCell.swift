/// The contribution of a cumulative type's samples to a period, under the ranking in force.
struct SumCell: RollupCell, Hashable {
  /// The time for which a source counted in microseconds, 0 if it has only instantaneous samples.
  struct Share: Hashable {
    /// An identifier of the source in the ranking, or 0 for manual entries.
    var source: Int64
    var covered: Int64
  }

  var value = 0.0
  /// The number of samples left out because their source has an identical sample.
  var twins = 0
  var shares: [Share] = []
  /// Whether any sample touches the cell, even one that does not count.
  var isTouched = false

  var isEmpty: Bool { !isTouched }

  init() {}

  /// Does nothing: a sum contains only the time within the cell.
  func forgetBefore() {}

  mutating func append(_ next: SumCell) {
    guard next.isTouched else { return }
    isTouched = true
    value += next.value
    twins += next.twins
    for share in next.shares { add(share) }
  }

  mutating func add(_ share: Share) {
    if let index = shares.firstIndex(where: { $0.source == share.source }) {
      shares[index].covered += share.covered
    } else {
      shares.append(share)
    }
  }

  func write(to writer: inout CellWriter, start: Int64) {
    writer.write(value)
    writer.write(UInt64(twins))
    writer.write(UInt64(shares.count))
    for share in shares {
      writer.write(UInt64(bitPattern: share.source))
      writer.write(UInt64(share.covered))
    }
  }

  init(from reader: inout CellReader, start: Int64) throws(RollupDamage) {
    isTouched = true
    value = try reader.double()
    guard let twins = Int(exactly: try reader.unsigned()) else { throw RollupDamage() }
    self.twins = twins
    for _ in 0..<(try reader.unsigned()) {
      let source = Int64(bitPattern: try reader.unsigned())
      // It cannot exceed the length of the block.
      let covered = try reader.unsigned()
      guard covered <= UInt64(RollupGrain.day) else { throw RollupDamage() }
      shares.append(Share(source: source, covered: Int64(covered)))
    }
  }
}
