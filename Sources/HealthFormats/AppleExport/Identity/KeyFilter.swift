/// Finds the keys that occur more than once, in memory that does not grow with the file.
///
/// A Bloom filter in blocks of one cache line (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom
/// Filters"): every key that has been seen is recognised, and about one new key in some thousands is too. That one is
/// then held back in vain, which costs memory but changes nothing.
struct KeyFilter: ~Copyable {
  private let words: UnsafeMutablePointer<UInt64>
  private let blockMask: UInt64
  /// The hashes of keys that may occur more than once.
  private(set) var suspects = HashSet64()

  /// - Parameter totalBytes: the size of the XML; an element takes some 460 bytes, of which a bit for each sixteen is
  ///   plenty, up to 32 MB.
  init(totalBytes: Int64) {
    var bits = 1 << 18
    while bits < 1 << 28, Int64(bits) < totalBytes / 16 { bits <<= 1 }
    words = .allocate(capacity: bits / 64)
    words.initialize(repeating: 0, count: bits / 64)
    blockMask = UInt64(bits / 512 - 1)
  }

  deinit { words.deallocate() }

  /// Notes `hash` and, if it had been seen, marks `suspect`.
  mutating func insert(_ hash: UInt64, suspect: UInt64) {
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
