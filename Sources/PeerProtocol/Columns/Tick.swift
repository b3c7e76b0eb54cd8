/// The unit of time of one batch: the longest of three that divides all its instants and durations.
struct Tick {
  /// The length of a tick in microseconds.
  private(set) var length: Int64 = 1_000_000

  mutating func divide(_ microseconds: Int64) {
    while length > 1, !microseconds.isMultiple(of: length) { length /= 1_000 }
  }

  init() {}

  /// `nil` for a number that is none of the three.
  init?(length: UInt32) {
    guard [1, 1_000, 1_000_000].contains(length) else { return nil }
    self.length = Int64(length)
  }
}
