import HealthModel

/// The samples of one kind in the order in which an export prints them.
struct ExportSeries {
  private static let block = 4_096

  private var series: Series
  /// Samples, or what belongs together, that are still to come.
  private var left: Int
  /// For a descending order: where each block begins, the last block last.
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

  /// A sample; for a correlation its members and then itself. `nil` at the end.
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
