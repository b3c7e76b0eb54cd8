/// How much is measured, and how often.
struct Sizes: Sendable {
  var isQuick: Bool
  /// Samples of a full pull.
  var samples: Int
  /// Samples of the smallest store and of the largest.
  var small: Int
  var large: Int
  /// Records of the smallest export and of the largest: 100 MB of XML and more than 4 GB.
  var smallExport: Int
  var largeExport: Int
  /// Samples through the JSON pages, which are slow.
  var json: Int
  /// Samples that each of several clients pulls.
  var shared: Int
  /// How often a long job is measured, and a short one.
  var repeats: Int
  var shortRepeats: Int
  var warmUps: Int
  /// Seconds of doing nothing, to see what that costs.
  var idle: Int

  init(samples: Int?, repeats: Int?, quick: Bool) {
    let count = samples ?? (quick ? 20_000 : 1_000_000)
    isQuick = quick
    self.samples = count
    small = min(count, quick ? 2_000 : 10_000)
    large = quick ? count * 5 / 2 : count * 5
    smallExport = quick ? count / 2 : count * 23 / 100
    largeExport = quick ? count * 2 : count * 10
    json = quick ? min(count, 4_000) : max(1000, count / 4)
    shared = max(1000, count / 5)
    self.repeats = repeats ?? (quick ? 1 : 3)
    shortRepeats = repeats.map { $0 * 5 } ?? (quick ? 3 : 15)
    warmUps = quick ? 0 : 1
    idle = quick ? 2 : 10
  }
}
