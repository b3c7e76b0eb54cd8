import Foundation
import HealthModel
import SwiftProtobuf
import ZstandardFrames

/// A decoder that splits a stream into batches in columns (`changes.proto`) and decodes them one at a time,
/// regardless of how the bytes are divided.
///
/// The returned batches are validated: every index is in range, and every text can be stored.
public struct ColumnBatchDecoder: ChangeDecoder {
  private let limits: ClientLimits
  private var pending: [UInt8] = []
  private var batches = 0
  /// The decompressed size of all batches so far, in bytes.
  private(set) var contentBytes = 0

  /// - Parameter limits: the decoder applies the limits on one batch.
  public init(limits: ClientLimits = ClientLimits()) {
    self.limits = limits
  }

  /// Whether the bytes received so far end at a batch boundary.
  public var isBetweenBatches: Bool { pending.isEmpty }

  /// Appends bytes of the stream.
  public mutating func receive(_ bytes: UnsafeRawBufferPointer) {
    pending.append(contentsOf: bytes)
  }

  /// Returns the next batch, or `nil` if it is incomplete.
  public mutating func next() throws(ChangeFeedError) -> ChangeFeedBatch? {
    guard pending.count >= 4 else { return nil }
    let length = pending[..<4].reduce(0) { $0 << 8 | Int($1) }
    guard length <= limits.frameBytes else { throw .batchTooLarge(batches + 1) }
    guard pending.count >= 4 + length else {
      // Reserving the exact size avoids holding a large batch twice each time the array grows.
      pending.reserveCapacity(4 + length)
      return nil
    }
    batches += 1
    let content = try content(of: pending[4..<4 + length])
    contentBytes += content.count
    // Frees the memory of a large batch before it is decoded.
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

  /// Decodes a batch from a serialized `ChangeBatch` message without its frame.
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
    // Frees the serialized bytes; the message has its own copies.
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
