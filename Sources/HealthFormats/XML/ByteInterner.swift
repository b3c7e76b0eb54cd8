import Foundation

/// A bounded table from raw bytes to decoded values, so that a text that repeats is decoded once.
///
/// When `limit` different keys have been added, the table is emptied.
struct ByteInterner<Value>: ~Copyable {
  private struct Entry {
    var hash: UInt64
    var key: UnsafeMutablePointer<UInt8>
    var count: Int
    var value: Value
  }

  private let limit: Int
  private var entries: [Entry] = []
  /// An open-addressing hash table of indices into `entries`; -1 marks an empty slot.
  private var slots: [Int32]
  private var last = -1

  init(limit: Int = 4096) {
    self.limit = limit
    var size = 64
    while size < limit * 2 { size *= 2 }
    slots = Array(repeating: -1, count: size)
  }

  deinit {
    for entry in entries { entry.key.deallocate() }
  }

  /// Returns the value of `bytes`. If they are new, calls `make` and keeps its result.
  mutating func value(of bytes: Bytes, make: (Bytes) -> Value) -> Value {
    if let known = find(bytes) { return known }
    let value = make(bytes)
    insert(bytes, value)
    return value
  }

  /// Returns the value of `bytes`, or `nil` if they are not in the table.
  mutating func find(_ bytes: Bytes) -> Value? {
    // Adjacent records often have the same value.
    if last >= 0, matches(last, bytes) { return entries[last].value }
    if entries.isEmpty { return nil }
    let hash = bytes.stableHash
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] >= 0 {
      let index = Int(slots[slot])
      if entries[index].hash == hash, matches(index, bytes) {
        last = index
        return entries[index].value
      }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Returns the last value found, with the length of its key, if the bytes at `start` begin with that key. Keys must
  /// end with a delimiter, so that a prefix match is a match. Avoids searching for the end of the key.
  @inline(__always)
  func latest(at start: UnsafePointer<UInt8>, limit: UnsafePointer<UInt8>) -> (value: Value, count: Int)? {
    guard last >= 0, case let count = entries[last].count, count <= limit - start,
      memcmp(entries[last].key, start, count) == 0
    else { return nil }
    return (entries[last].value, count)
  }

  /// Adds the value of `bytes`, which must not be in the table.
  mutating func insert(_ bytes: Bytes, _ value: Value) {
    guard bytes.isInternable else { return }
    if entries.count >= limit { removeAll() }
    let hash = bytes.stableHash
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] >= 0 { slot = (slot + 1) & mask }
    let key = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
    key.update(from: bytes.start, count: bytes.count)
    slots[slot] = Int32(entries.count)
    last = entries.count
    entries.append(Entry(hash: hash, key: key, count: bytes.count, value: value))
  }

  private func matches(_ index: Int, _ bytes: Bytes) -> Bool {
    entries[index].count == bytes.count && memcmp(entries[index].key, bytes.start, bytes.count) == 0
  }

  /// Removes all entries.
  mutating func removeAll() {
    if entries.isEmpty { return }
    for entry in entries { entry.key.deallocate() }
    entries.removeAll(keepingCapacity: true)
    for slot in slots.indices { slots[slot] = -1 }
    last = -1
  }
}

extension Bytes {
  /// Whether a table keeps the bytes. Long texts hardly ever repeat.
  var isInternable: Bool { count <= 4096 }
}

/// A decoded text with properties that are needed often.
struct InternedText {
  var text: String
  /// A hash of the decoded text. Texts that differ only in their escapes have the same hash.
  var hash: UInt64
  var defects: TextDefects

  init(_ bytes: Bytes) {
    var defects: TextDefects = []
    text = XMLText.decode(bytes, defects: &defects)
    self.defects = defects
    hash = text.withBytes(\.stableHash)
  }
}
