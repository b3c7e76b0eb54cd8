/// The amounts of data and the numbers of repetitions.
struct Sizes: Sendable {
  var isQuick: Bool
  /// The number of samples in a full pull.
  var samples: Int
  /// The number of samples in the smallest store. `large` is that of the largest.
  var small: Int
  var large: Int
  /// The number of records in the smallest export. `largeExport` is that of the largest. By default they have 100 MB
  /// and more than 4 GB of XML.
  var smallExport: Int
  var largeExport: Int
  /// The number of samples transferred as JSON pages, which are slow.
  var json: Int
  /// The number of samples that each of several clients pulls.
  var shared: Int
  /// The number of repetitions of long measurements. `shortRepeats` is that of short ones.
  var repeats: Int
  var shortRepeats: Int
  var warmUps: Int
  /// The duration of idle measurements, in seconds.
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
