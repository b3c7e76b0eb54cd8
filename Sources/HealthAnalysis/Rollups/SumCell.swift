/// What samples of a cumulative type add to a stretch of time, under the ranking that was in force.
struct SumCell: RollupCell, Hashable {
  /// For how long a source counted, in microseconds; 0 for what only had instants.
  struct Share: Hashable {
    /// One of those that are one source in the ranking, or 0 for what people typed.
    var source: Int64
    var covered: Int64
  }

  var value = 0.0
  /// Samples that were left out because their source says the very same twice.
  var twins = 0
  var shares: [Share] = []
  /// Whether any sample touches it, perhaps one that does not count.
  var isTouched = false

  var isEmpty: Bool { !isTouched }

  init() {}

  /// It has what is in it, and nothing else.
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
      // No longer than the block that it lies in.
      let covered = try reader.unsigned()
      guard covered <= UInt64(RollupGrain.day) else { throw RollupDamage() }
      shares.append(Share(source: source, covered: Int64(covered)))
    }
  }
}
