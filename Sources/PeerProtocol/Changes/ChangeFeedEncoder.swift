import HealthModel

/// An encoder of the change feed in either format.
public struct ChangeFeedEncoder: Sendable {
  private let format: ChangeFeedFormat

  /// - Parameter format: the format that the client accepts.
  public init(_ format: ChangeFeedFormat) {
    self.format = format
  }

  /// Encodes a batch.
  ///
  /// - Throws: `EncodingError` or `DecodingError` if a stored text of the changes, such as a payload, is invalid.
  public func encode(_ batch: ChangeFeedBatch) throws -> [UInt8] {
    switch format {
    case .columns: return try ColumnBatchEncoder.encode(batch)
    case .lines:
      let encoder = ChangeLineEncoder()
      let expander = try ChangeExpander(batch.changes)
      var bytes: [UInt8] = []
      bytes.reserveCapacity(batch.changes.count * 400 + 100)
      for tombstone in batch.changes.tombstones {
        try encoder.encode(.deleted(expander.tombstone(tombstone)), into: &bytes)
      }
      for sample in batch.changes.samples {
        let statement = sample.statement.map { batch.changes.statements[Int($0)] }
        try encoder.encode(
          .added(try expander.sample(sample), road: sample.road, statement: statement), into: &bytes)
      }
      try encoder.encode(.token(batch.token, more: batch.more), into: &bytes)
      return bytes
    }
  }

  /// Encodes an error that ends the feed, as a sentence for a person.
  public func encode(error: String) throws -> [UInt8] {
    switch format {
    case .columns: return try ColumnBatchEncoder.encode(error: error)
    case .lines:
      var bytes: [UInt8] = []
      try ChangeLineEncoder().encode(.error(error), into: &bytes)
      return bytes
    }
  }
}
