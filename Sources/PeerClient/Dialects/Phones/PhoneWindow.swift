/// A stretch of time in which a number of samples start, as a phone has them.
struct PhoneWindow: Equatable {
  /// Its first second; it ends where the one before it, which is newer, begins.
  var from: Int64
  var rows: Int
}

/// Two numbers: there may be hundreds.
extension PhoneWindow: Codable {
  init(from decoder: any Decoder) throws {
    var numbers = try decoder.unkeyedContainer()
    from = try numbers.decode(Int64.self)
    rows = try numbers.decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    var numbers = encoder.unkeyedContainer()
    try numbers.encode(from)
    try numbers.encode(rows)
  }
}

extension Sequence<PhoneWindow> {
  var rows: Int { reduce(0) { $0 + $1.rows } }
}

extension [PhoneWindow] {
  /// Counts samples where they start, each in the newest window that begins before it.
  mutating func tally(_ seconds: [Int64]) {
    for second in seconds {
      var (low, high) = (0, count)
      while low < high {
        let middle = (low + high) / 2
        if self[middle].from <= second { high = middle } else { low = middle + 1 }
      }
      if low < count { self[low].rows += 1 }
    }
  }
}
