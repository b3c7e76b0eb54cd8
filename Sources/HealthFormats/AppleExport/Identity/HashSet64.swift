/// A set of hashes. It does not hash them again, because they are evenly distributed already.
struct HashSet64: Sendable {
  /// An open-addressing hash table, at most half full; 0 marks an empty slot.
  private var slots: [UInt64] = []
  private var hasZero = false
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  func contains(_ hash: UInt64) -> Bool {
    if hash == 0 { return hasZero }
    if slots.isEmpty { return false }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash >> 7) & mask
    while slots[slot] != 0 {
      if slots[slot] == hash { return true }
      slot = (slot + 1) & mask
    }
    return false
  }

  mutating func insert(_ hash: UInt64) {
    guard !contains(hash) else { return }
    count += 1
    guard hash != 0 else {
      hasZero = true
      return
    }
    if 2 * count > slots.count { grow() }
    place(hash)
  }

  private mutating func place(_ hash: UInt64) {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash >> 7) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = hash
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: 0, count: max(64, old.count * 2))
    for hash in old where hash != 0 { place(hash) }
  }
}
