import Foundation
import HealthModel
import SwiftProtobuf
import ZstandardFrames

/// Cuts a stream of bytes into batches in columns and decodes them one at a time, however the bytes are divided: see
/// `changes.proto`.
///
/// Nothing that it returns holds an index or a text that a store could stumble over.
public struct ColumnBatchDecoder: ChangeDecoder {
  private let limits: ClientLimits
  private var pending: [UInt8] = []
  private var batches = 0
  /// The decompressed size of all batches so far, in bytes.
  private(set) var contentBytes = 0

  /// - Parameter limits: of these, what one batch may take.
  public init(limits: ClientLimits = ClientLimits()) {
    self.limits = limits
  }

  /// Whether no byte of a further batch has been received.
  public var isBetweenBatches: Bool { pending.isEmpty }

  /// Appends bytes of the stream.
  public mutating func receive(_ bytes: UnsafeRawBufferPointer) {
    pending.append(contentsOf: bytes)
  }

  /// The next batch, if all of it has come.
  public mutating func next() throws(ChangeFeedError) -> ChangeFeedBatch? {
    guard pending.count >= 4 else { return nil }
    let length = pending[..<4].reduce(0) { $0 << 8 | Int($1) }
    guard length <= limits.frameBytes else { throw .batchTooLarge(batches + 1) }
    guard pending.count >= 4 + length else {
      // Without this, a large one would be there twice each time that its space is doubled.
      pending.reserveCapacity(4 + length)
      return nil
    }
    batches += 1
    let content = try content(of: pending[4..<4 + length])
    contentBytes += content.count
    // The space of a large one is given back before it is decoded.
    pending = pending.count == 4 + length ? [] : Array(pending[(4 + length)...])
    return try batch(content)
  }

  private func content(of frame: ArraySlice<UInt8>) throws(ChangeFeedError) -> [UInt8] {
    let limit = min(limits.batchBytes, max(limits.freelyExpandedBytes, frame.count * limits.expansion))
    let result = frame.withUnsafeBytes { bytes in
      Result { () throws(Zstandard.Failure) in try Zstandard.decompress(bytes, limit: limit) }
    }
    switch result {
    case .success(let content): return content
    case .failure(.tooLarge): throw .batchTooLarge(batches)
    case .failure: throw .malformedBatch(batches)
    }
  }

  /// The batch that is a `ChangeBatch` message without its frame.
  public func batch(_ content: consuming [UInt8]) throws(ChangeFeedError) -> ChangeFeedBatch {
    switch content.withUnsafeBytes({ ColumnBudget.verdict(on: $0, limits) }) {
    case .fits: break
    case .tooMany: throw .batchTooLarge(batches)
    case .malformed: throw .malformedBatch(batches)
    }
    var options = BinaryDecodingOptions()
    options.discardUnknownFields = true
    guard var message = try? Hpeer_V2_ChangeBatch(serializedBytes: content, options: options) else {
      throw .malformedBatch(batches)
    }
    // The message has its own copies.
    content = []
    if !message.error.isEmpty { throw .server(limits.shortened(message.error)) }
    guard message.samples.type.count + message.tombstones.type.count <= limits.batchChanges else {
      throw .batchTooLarge(batches)
    }
    let texts = message.samples.json
    if !texts.isEmpty { message.samples.json = [] }
    var reader = ColumnReader(limits)
    guard reader.read(message.samples, consume texts), reader.read(message.tombstones) else {
      throw .malformedBatch(batches)
    }
    return ChangeFeedBatch(changes: reader.changes, token: message.token, more: message.more)
  }
}
