import CISAL

/// A filter that finds the keys that occur more than once, in constant memory.
///
/// It is a Bloom filter with blocks of one cache line (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient
/// Bloom Filters"). Every repeated key is found. About one new key in several thousand is reported too; its sample is
/// held back needlessly, which costs memory but changes nothing.
struct KeyFilter: ~Copyable {
  private let words: UnsafeMutablePointer<UInt64>
  private let blockMask: UInt64
  /// The hashes of keys that may occur more than once. Valid after ``flush()``.
  private(set) var suspects = HashSet64()

  /// The number of hashes that wait for their cache lines to be loaded. The filter is larger than the cache, and
  /// waiting for memory would take longer than everything else.
  private static let delay = 16
  private let waiting: UnsafeMutablePointer<(hash: UInt64, suspect: UInt64)>
  private var inserted = 0

  /// Creates a filter for an XML of the given size.
  ///
  /// - Parameter totalBytes: the size of the XML. An element takes about 460 bytes, so that one bit for every 16
  ///   bytes is ample. The filter has at most 32 MB.
  init(totalBytes: Int64) {
    var bits = 1 << 18
    while bits < 1 << 28, Int64(bits) < totalBytes / 16 { bits <<= 1 }
    // Each block must be one cache line.
    words = UnsafeMutableRawPointer.allocate(byteCount: bits / 8, alignment: 64)
      .bindMemory(to: UInt64.self, capacity: bits / 64)
    words.initialize(repeating: 0, count: bits / 64)
    blockMask = UInt64(bits / 512 - 1)
    waiting = .allocate(capacity: Self.delay)
  }

  deinit {
    words.deallocate()
    waiting.deallocate()
  }

  /// Adds a key, and marks it as a suspect if it was added before.
  mutating func insert(_ hash: UInt64) { insert(hash, suspect: hash) }

  /// Adds the key of a correlation member. Members repeat top-level records on purpose, so they are compared only
  /// with each other.
  mutating func insert(member hash: UInt64) { insert(~hash, suspect: hash) }

  private mutating func insert(_ hash: UInt64, suspect: UInt64) {
    let slot = waiting + (inserted & (Self.delay - 1))
    if inserted >= Self.delay { note(slot.pointee.hash, suspect: slot.pointee.suspect) }
    hpeer_prefetch(words + Int(hash & blockMask) * 8)
    slot.pointee = (hash, suspect)
    inserted += 1
  }

  /// Processes the hashes that are still waiting.
  mutating func flush() {
    for index in max(0, inserted - Self.delay)..<inserted {
      let slot = waiting[index & (Self.delay - 1)]
      note(slot.hash, suspect: slot.suspect)
    }
    inserted = 0
  }

  private mutating func note(_ hash: UInt64, suspect: UInt64) {
    let block = words + Int(hash & blockMask) * 8
    // Use nine bits for each of four positions in the block, from bits that did not choose the block.
    var rest = hash.folded(with: 0x8EBC_6AF0_9C88_C6E3)
    var isKnown = true
    for _ in 0..<4 {
      let (word, bit) = (Int(rest & 7), UInt64(1) << (rest >> 3 & 63))
      if block[word] & bit == 0 {
        isKnown = false
        block[word] |= bit
      }
      rest >>= 9
    }
    if isKnown { suspects.insert(suspect) }
  }
}
