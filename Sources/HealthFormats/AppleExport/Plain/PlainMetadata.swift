import HealthModel

/// A table of the metadata of plain records. Equal bytes give the same text, which is written once for each batch.
struct PlainMetadata: ~Copyable {
  /// The maximum number of entries in a record. Records with more are rare.
  private static let entryLimit = 16

  private var indices = ByteInterner<UInt32>(limit: 1 << 14)
  private var entries: [PlainMetadataEntry] = []
  private var text: [UInt8] = []
  /// The batch that the indices belong to.
  private var batch = -1

  /// Returns the index of the metadata text, in the form of ``MetadataText``, of all entries in `bytes`. Returns
  /// `nil` if they contain entities, defects or a repeated key.
  mutating func index(of bytes: Bytes, _ coder: inout BatchCoder) -> UInt32? {
    if coder.batch != batch {
      indices.removeAll()
      batch = coder.batch
    }
    if let known = indices.find(bytes) { return known }
    guard read(bytes), write(), let text = text.withUnsafeBufferPointer({ String(utf8: $0) }) else { return nil }
    let index = coder.append(metadata: text)
    indices.insert(bytes, index)
    return index
  }

  private mutating func read(_ bytes: Bytes) -> Bool {
    entries.removeAll(keepingCapacity: true)
    var next = bytes.start
    let end = bytes.start + bytes.count
    while true {
      while next < end, next.pointee <= 0x20 { next += 1 }
      if next >= end { return true }
      // The bytes after the last entry have been checked before, so they are readable.
      guard entries.count < Self.entryLimit, let entry = PlainMetadataEntry(next, limit: end + 1) else { return false }
      entries.append(entry)
      next = entry.next
    }
  }

  private mutating func write() -> Bool {
    entries.sort { $0.key.precedes($1.key) }
    text.removeAll(keepingCapacity: true)
    for (index, entry) in entries.enumerated() {
      if index > 0, !entries[index - 1].key.precedes(entry.key) { return false }
      text.append(index == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
      guard append(entry.key) else { return false }
      text.append(UInt8(ascii: ":"))
      guard append(entry.value) else { return false }
    }
    text.append(UInt8(ascii: "}"))
    return true
  }

  /// Appends a text that needs no escaping in XML or JSON. Returns false for other texts.
  private mutating func append(_ bytes: Bytes) -> Bool {
    for index in 0..<bytes.count {
      let byte = bytes[index]
      if byte < 0x20 || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") {
        return false
      }
    }
    text.append(UInt8(ascii: "\""))
    text.append(contentsOf: bytes.buffer)
    text.append(UInt8(ascii: "\""))
    return true
  }
}

extension Bytes {
  /// Returns whether the bytes come before `other` in ascending order.
  fileprivate func precedes(_ other: Bytes) -> Bool { buffer.lexicographicallyPrecedes(other.buffer) }
}
