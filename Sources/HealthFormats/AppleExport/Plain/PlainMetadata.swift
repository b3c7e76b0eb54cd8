import HealthModel

/// The metadata of plain records: the same bytes are the same text, which is written once for each batch.
struct PlainMetadata: ~Copyable {
  /// Records with more entries are rare.
  private static let entryLimit = 16

  private var indices = ByteInterner<UInt32>(limit: 1 << 14)
  private var entries: [PlainMetadataEntry] = []
  private var text: [UInt8] = []
  /// The batch whose indices these are.
  private var batch = -1

  /// The index of the text, as ``MetadataText`` writes it, of all entries in `bytes`; `nil` for those with entities,
  /// defects, or a key that repeats.
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
      // What follows the last entry has been looked at before and is still there.
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

  /// Appends a text that is the same in XML and JSON.
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
  /// Ascending order of the bytes.
  fileprivate func precedes(_ other: Bytes) -> Bool { buffer.lexicographicallyPrecedes(other.buffer) }
}
