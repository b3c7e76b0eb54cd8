/// A set of change numbers. They are stored in blocks, and a full or empty block needs almost no memory, because
/// imports assign consecutive numbers. In the worst case the set needs a bit per number.
struct ChangeNumbers {
  /// A block of 65,536 consecutive numbers.
  private struct Block {
    static let bits: Int64 = 16
    static let capacity = 1 << bits

    /// A bit for each number. Empty if the block is full or empty.
    var words: [UInt64] = []
    var count = 0

    var isFull: Bool { count == Self.capacity }

    func word(_ index: Int) -> UInt64 {
      words.isEmpty ? (isFull ? .max : 0) : words[index]
    }

    mutating func insert(_ offset: Int) -> Bool {
      if isFull { return false }
      if words.isEmpty { words = Array(repeating: 0, count: Self.capacity / UInt64.bitWidth) }
      let (word, bit) = (offset >> 6, UInt64(1) << UInt64(offset & 63))
      if words[word] & bit != 0 { return false }
      words[word] |= bit
      count += 1
      if isFull { words = [] }
      return true
    }
  }

  private var blocks: [Block] = []

  init() {}

  func contains(_ number: Int64) -> Bool {
    let block = Int(number >> Block.bits)
    guard number >= 0, block < blocks.count else { return false }
    let offset = Int(number) & (Block.capacity - 1)
    return blocks[block].word(offset >> 6) & (1 << UInt64(offset & 63)) != 0
  }

  /// Inserts a number.
  ///
  /// - Returns: whether the number is new.
  @discardableResult
  mutating func insert(_ number: Int64) -> Bool {
    let block = Int(number >> Block.bits)
    if block >= blocks.count {
      blocks.append(contentsOf: repeatElement(Block(), count: block + 1 - blocks.count))
    }
    return blocks[block].insert(Int(number) & (Block.capacity - 1))
  }

  mutating func insert(_ range: ClosedRange<Int64>) {
    for number in range { insert(number) }
  }

  /// Calls `body` with every number of this set that is not in `other`, in ascending order.
  func forEach(notIn other: ChangeNumbers, _ body: (Int64) throws -> Void) rethrows {
    for (index, block) in blocks.enumerated() where block.count > 0 {
      let out = index < other.blocks.count ? other.blocks[index] : Block()
      if out.isFull { continue }
      for word in 0..<Block.capacity / UInt64.bitWidth {
        var rest = block.word(word) & ~out.word(word)
        while rest != 0 {
          try body(Int64(index) << Block.bits | Int64(word << 6 | rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
    }
  }
}
