/// A time range with the number of the phone's samples that start in it.
struct PhoneWindow: Equatable {
  /// The first second. The window ends where the previous, newer one begins.
  var from: Int64
  var rows: Int
}

/// Encoded as an array of two numbers, because there may be hundreds of windows.
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
  /// Counts samples by their start, each in the newest window that begins at or before it.
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
