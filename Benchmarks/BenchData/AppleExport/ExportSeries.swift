import HealthModel

/// The samples of a kind, in the order in which an export prints them.
struct ExportSeries {
  private static let block = 4_096

  private var series: Series
  /// The number of steps of the series that are left. A step gives a sample, or a correlation and its members.
  private var left: Int
  /// The series at the start of each block, in order. Used for a descending order only.
  private var marks: [Series] = []
  private var waiting: [[Sample]] = []
  private let isDescending: Bool

  init(_ series: Series, count: Int, isDescending: Bool) {
    self.series = series
    self.isDescending = isDescending
    left = count
    guard isDescending else { return }
    var walk = series
    for index in 0..<count {
      if index % Self.block == 0 { marks.append(walk) }
      _ = walk.next()
    }
  }

  /// Returns a sample, or the members of a correlation followed by the correlation itself. Returns `nil` at the end.
  mutating func next() -> [Sample]? {
    guard left > 0 else { return nil }
    if isDescending, waiting.isEmpty {
      guard var walk = marks.popLast() else { return nil }
      // All blocks but the last, which comes first, are full.
      let count = left - marks.count * Self.block
      for _ in 0..<count { waiting.append(walk.next()) }
    }
    left -= 1
    return isDescending ? waiting.popLast() : series.next()
  }
}
