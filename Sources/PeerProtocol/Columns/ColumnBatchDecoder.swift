import Foundation
import HealthModel
import SwiftProtobuf

/// Cuts a stream of bytes into batches in columns and decodes them, however the bytes are divided: see `changes.proto`.
///
/// Nothing that it returns holds an index or a text that a store could stumble over.
public struct ColumnBatchDecoder {
  /// In bytes, of one batch as it travels and as it is decompressed: many times what hpeer makes of the largest samples.
  public struct Limits: Sendable {
    public var frame = 32 << 20
    public var content = 64 << 20
    public var changes = 100_000

    public init() {}
  }

  private let limits: Limits
  private var pending: [UInt8] = []
  private var batches = 0

  public init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Nothing of a further batch has come.
  public var isBetweenBatches: Bool { pending.isEmpty }

  /// The batches that `bytes` complete.
  public mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(ChangeFeedError) -> [ChangeFeedBatch] {
    pending.append(contentsOf: bytes)
    var decoded: [ChangeFeedBatch] = []
    var start = 0
    while pending.count - start >= 4 {
      let length = pending[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= limits.frame else { throw .batchTooLarge(batches + 1) }
      guard pending.count - start - 4 >= length else { break }
      batches += 1
      decoded.append(try batch(try content(of: pending[start + 4..<start + 4 + length])))
      start += 4 + length
    }
    if start > 0 { pending.removeFirst(start) }
    return decoded
  }

  private func content(of frame: ArraySlice<UInt8>) throws(ChangeFeedError) -> [UInt8] {
    let result = frame.withUnsafeBytes { bytes in
      Result { () throws(Zstandard.Failure) in try Zstandard.decompress(bytes, limit: limits.content) }
    }
    switch result {
    case .success(let content): return content
    case .failure(.tooLarge): throw .batchTooLarge(batches)
    case .failure: throw .malformedBatch(batches)
    }
  }

  /// The batch that is a `ChangeBatch` message without its frame.
  public func batch(_ content: [UInt8]) throws(ChangeFeedError) -> ChangeFeedBatch {
    switch content.withUnsafeBytes({ ColumnBudget.verdict(on: $0, maximum: limits.changes) }) {
    case .fits: break
    case .tooMany: throw .batchTooLarge(batches)
    case .malformed: throw .malformedBatch(batches)
    }
    var options = BinaryDecodingOptions()
    options.discardUnknownFields = true
    guard let message = try? Hpeer_V2_ChangeBatch(serializedBytes: content, options: options) else {
      throw .malformedBatch(batches)
    }
    if !message.error.isEmpty { throw .server(message.error) }
    var reader = ColumnReader()
    guard message.samples.type.count + message.tombstones.type.count <= limits.changes else {
      throw .batchTooLarge(batches)
    }
    guard reader.read(message.samples), reader.read(message.tombstones) else { throw .malformedBatch(batches) }
    return ChangeFeedBatch(changes: reader.changes, token: message.token, more: message.more)
  }
}
