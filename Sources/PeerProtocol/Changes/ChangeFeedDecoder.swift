import HealthModel

/// A decoder of the change feed in either format. It yields one batch at a time, regardless of how the bytes are
/// divided.
///
/// ```swift
/// func batches(in pieces: [[UInt8]], of format: ChangeFeedFormat) throws -> [ChangeFeedBatch] {
///   var decoder = ChangeFeedDecoder(format)
///   var batches: [ChangeFeedBatch] = []
///   for piece in pieces {
///     piece.withUnsafeBytes { decoder.receive($0) }
///     while let batch = try decoder.next() { batches.append(batch) }
///   }
///   guard decoder.isBetweenBatches else { throw ChangeFeedError.cutOff }
///   return batches
/// }
/// ```
public struct ChangeFeedDecoder: ChangeDecoder {
  private let format: ChangeFeedFormat
  private var columns: ColumnBatchDecoder
  private var lines: LineBatcher

  /// - Parameter format: the format named by the answer's content type.
  public init(_ format: ChangeFeedFormat, limits: ClientLimits = ClientLimits()) {
    self.format = format
    columns = ColumnBatchDecoder(limits: limits)
    lines = LineBatcher(limits)
  }

  /// Appends bytes of the stream.
  public mutating func receive(_ bytes: UnsafeRawBufferPointer) {
    switch format {
    case .columns: columns.receive(bytes)
    case .lines: lines.receive(bytes)
    }
  }

  /// Returns the next batch, or `nil` if it is incomplete. The stream is unusable after an error.
  public mutating func next() throws(ChangeFeedError) -> ChangeFeedBatch? {
    switch format {
    case .columns: try columns.next()
    case .lines: try lines.next()
    }
  }

  /// Whether the bytes received so far end at a batch boundary, as a complete answer must.
  public var isBetweenBatches: Bool {
    switch format {
    case .columns: columns.isBetweenBatches
    case .lines: lines.isBetweenBatches
    }
  }

  /// The decompressed size of all batches so far, in bytes.
  public var contentBytes: Int {
    switch format {
    case .columns: columns.contentBytes
    case .lines: lines.contentBytes
    }
  }
}

/// A decoder that groups the lines of the NDJSON feed into batches, each ended by a token line.
private struct LineBatcher {
  private let limits: ClientLimits
  private var decoder: ChangeLineDecoder
  private var coder = ChangeCoder()
  private var count = 0
  private var batches = 0
  /// The size of all batches so far, up to the last token, in bytes.
  private(set) var contentBytes = 0

  init(_ limits: ClientLimits) {
    self.limits = limits
    decoder = ChangeLineDecoder(limits: limits)
  }

  var isBetweenBatches: Bool { count == 0 && decoder.isBetweenLines }

  mutating func receive(_ bytes: UnsafeRawBufferPointer) {
    decoder.receive(bytes)
  }

  mutating func next() throws(ChangeFeedError) -> ChangeFeedBatch? {
    while let line = try decoder.next() {
      switch line {
      case .added(let sample, let road, let statement):
        do { try coder.add(sample, road: road, statement: statement) } catch { throw .malformed(line: decoder.lines) }
        count += 1
      case .deleted(let tombstone):
        coder.add(tombstone)
        count += 1
      case .error(let message): throw .server(limits.shortened(message))
      case .token(let token, let more):
        let batch = ChangeFeedBatch(changes: coder.changes, token: token, more: more)
        coder = ChangeCoder()
        (count, batches, contentBytes) = (0, batches + 1, decoder.bytes)
        return batch
      }
      guard count <= limits.batchChanges else { throw .noToken(changes: count) }
      try checkBytes()
    }
    // Lines that are empty also count: a stream of them without a token must end in an error.
    try checkBytes()
    return nil
  }

  private func checkBytes() throws(ChangeFeedError) {
    guard decoder.bytes - contentBytes <= limits.batchBytes else { throw .batchTooLarge(batches + 1) }
  }
}
