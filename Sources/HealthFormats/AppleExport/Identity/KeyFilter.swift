import CISAL

/// Finds the keys that occur more than once, in memory that does not grow with the file.
///
/// A Bloom filter in blocks of one cache line (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom
/// Filters"): every key that has been seen is recognised, and about one new key in some thousands is too. That one is
/// then held back in vain, which costs memory but changes nothing.
struct KeyFilter: ~Copyable {
  private let words: UnsafeMutablePointer<UInt64>
  private let blockMask: UInt64
  /// The hashes of keys that may occur more than once, once ``flush()`` has been called.
  private(set) var suspects = HashSet64()

  /// Hashes that wait for their cache lines: the filter is larger than the cache, and waiting for memory would take
  /// longer than all the rest.
  private static let delay = 16
  private let waiting: UnsafeMutablePointer<(hash: UInt64, suspect: UInt64)>
  private var inserted = 0

  /// - Parameter totalBytes: the size of the XML; an element takes some 460 bytes, of which a bit for each sixteen is
  ///   plenty, up to 32 MB.
  init(totalBytes: Int64) {
    var bits = 1 << 18
    while bits < 1 << 28, Int64(bits) < totalBytes / 16 { bits <<= 1 }
    // A block is a cache line.
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

  /// Notes a key and, if it had been seen, marks it.
  mutating func insert(_ hash: UInt64) { insert(hash, suspect: hash) }

  /// Members of correlations repeat a top-level record on purpose: they are compared with each other only.
  mutating func insert(member hash: UInt64) { insert(~hash, suspect: hash) }

  private mutating func insert(_ hash: UInt64, suspect: UInt64) {
    let slot = waiting + (inserted & (Self.delay - 1))
    if inserted >= Self.delay { note(slot.pointee.hash, suspect: slot.pointee.suspect) }
    hpeer_prefetch(words + Int(hash & blockMask) * 8)
    slot.pointee = (hash, suspect)
    inserted += 1
  }

  /// Notes what is still waiting.
  mutating func flush() {
    for index in max(0, inserted - Self.delay)..<inserted {
      let slot = waiting[index & (Self.delay - 1)]
      note(slot.hash, suspect: slot.suspect)
    }
    inserted = 0
  }

  private mutating func note(_ hash: UInt64, suspect: UInt64) {
    let block = words + Int(hash & blockMask) * 8
    // Nine bits for each of four positions in the block, from bits that did not choose the block.
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
