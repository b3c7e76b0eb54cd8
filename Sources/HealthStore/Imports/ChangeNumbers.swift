/// A set of change numbers, one bit each: ten million take little more than a megabyte.
struct ChangeNumbers {
  private var words: [UInt64] = []

  init() {}

  func contains(_ number: Int64) -> Bool {
    let word = Int(number >> 6)
    return number >= 0 && word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
  }

  /// - Returns: whether it was not there before.
  @discardableResult
  mutating func insert(_ number: Int64) -> Bool {
    let (word, bit) = (Int(number >> 6), UInt64(1) << UInt64(number & 63))
    if word >= words.count {
      words.append(contentsOf: repeatElement(0, count: max(word + 1 - words.count, words.count / 8)))
    }
    if words[word] & bit != 0 { return false }
    words[word] |= bit
    return true
  }

  mutating func insert(_ range: ClosedRange<Int64>) {
    for number in range { insert(number) }
  }

  /// Calls `body` with every number that is here and not in `other`, in ascending order.
  func forEach(notIn other: ChangeNumbers, _ body: (Int64) throws -> Void) rethrows {
    for (index, word) in words.enumerated() {
      var rest = index < other.words.count ? word & ~other.words[index] : word
      while rest != 0 {
        try body(Int64(index) << 6 | Int64(rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
  }
}
