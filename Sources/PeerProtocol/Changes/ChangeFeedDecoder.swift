import HealthModel

/// Reads the change feed in either format, however its bytes are divided.
public struct ChangeFeedDecoder {
  private let format: ChangeFeedFormat
  private var columns = ColumnBatchDecoder()
  private var lines = LineBatcher()

  public init(_ format: ChangeFeedFormat) {
    self.format = format
  }

  /// The batches that `bytes` complete.
  public mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(ChangeFeedError) -> [ChangeFeedBatch] {
    switch format {
    case .columns: try columns.decode(bytes)
    case .lines: try lines.decode(bytes)
    }
  }

  /// What has come so far ends with a batch.
  public var isBetweenBatches: Bool {
    switch format {
    case .columns: columns.isBetweenBatches
    case .lines: lines.isBetweenBatches
    }
  }
}

/// Collects lines up to the token that ends a batch.
private struct LineBatcher {
  /// In bytes; the longest samples that exist are the routes of rides that took days, with ten million or two.
  private static let maximumLine = 64 << 20
  /// Changes that are held in memory until their token comes; hpeer sends one every few thousand.
  private static let maximumBatch = 20_000

  private var decoder = ChangeLineDecoder(lineLimit: maximumLine)
  private var coder = ChangeCoder()
  private var count = 0

  var isBetweenBatches: Bool { count == 0 }

  mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(ChangeFeedError) -> [ChangeFeedBatch] {
    var batches: [ChangeFeedBatch] = []
    for line in try decoder.decode(bytes) {
      switch line {
      case .added(let sample):
        do { try coder.add(sample) } catch { throw .malformed(line: decoder.lines) }
        count += 1
      case .deleted(let tombstone):
        coder.add(tombstone)
        count += 1
      case .error(let message): throw .server(message)
      case .token(let token, let more):
        batches.append(ChangeFeedBatch(changes: coder.changes, token: token, more: more))
        coder = ChangeCoder()
        count = 0
      }
      guard count <= Self.maximumBatch else { throw .noToken(changes: count) }
    }
    return batches
  }
}
