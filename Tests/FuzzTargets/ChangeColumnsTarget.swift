import HealthModel
import PeerProtocol

extension FuzzTarget {
  /// Fuzzes the decoder of columnar changes. The input is a bare `ChangeBatch` message, because random bytes in a
  /// frame would rarely pass Zstandard's checks.
  @Sendable static func changeColumns(_ input: [UInt8]) {
    guard let batch = try? ColumnBatchDecoder().batch(input) else { return }
    do {
      let anew = try coded(batch)
      let bytes = try ColumnBatchEncoder.encode(anew)
      var decoder = ColumnBatchDecoder()
      let decoded = try bytes.withUnsafeBytes { try decoder.decode($0) }
      require(try decoded.map(coded) == [anew], "what was coded travels unchanged: \(anew), \(decoded)")
      require(decoder.isBetweenBatches, "nothing is left")
    } catch {
      fatalError("broken promise: what a decoder returns can be read, coded and sent: \(error)")
    }
  }

  /// Returns the same batch with each text once in its dictionary, because a message has separate dictionaries of
  /// types for samples and tombstones.
  private static func coded(_ batch: ChangeFeedBatch) throws -> ChangeFeedBatch {
    let expander = try ChangeExpander(batch.changes)
    var coder = ChangeCoder()
    for tombstone in batch.changes.tombstones { coder.add(expander.tombstone(tombstone)) }
    for sample in batch.changes.samples { try coder.add(try expander.sample(sample)) }
    return ChangeFeedBatch(changes: coder.changes, token: batch.token, more: batch.more)
  }
}
