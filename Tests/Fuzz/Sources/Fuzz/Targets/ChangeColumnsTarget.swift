import HealthModel
import PeerProtocol

extension FuzzTarget {
  /// The input is a `ChangeBatch` message: within a frame, chance would never come past the checks of Zstandard.
  @Sendable static func changeColumns(_ input: [UInt8]) {
    guard let batch = try? ColumnBatchDecoder().batch(input) else { return }
    do {
      let expander = try ChangeExpander(batch.changes)
      var coder = ChangeCoder()
      for tombstone in batch.changes.tombstones { coder.add(expander.tombstone(tombstone)) }
      for sample in batch.changes.samples { try coder.add(try expander.sample(sample)) }
      let anew = ChangeFeedBatch(changes: coder.changes, token: batch.token, more: batch.more)
      let bytes = try ColumnBatchEncoder.encode(anew)
      var decoder = ColumnBatchDecoder()
      let decoded = try bytes.withUnsafeBytes { try decoder.decode($0) }
      require(decoded == [anew], "what was decoded, expanded and coded travels unchanged: \(anew), \(decoded)")
      require(decoder.isBetweenBatches, "nothing is left")
    } catch {
      fatalError("broken promise: what a decoder returns can be read, coded and sent: \(error)")
    }
  }
}
