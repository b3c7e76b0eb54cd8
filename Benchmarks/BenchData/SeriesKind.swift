import HealthModel

/// A type as recorded by a single source: its frequency, its timing and its content.
struct SeriesKind: Sendable {
  struct Content: Sendable {
    var payload: Payload
    var metadata: Metadata = [:]
    /// The values of a correlation's members. If there are any, the payload becomes their correlation.
    var members: [(SampleType, Quantity)] = []
  }

  let type: SampleType
  let person: Recorder
  /// The number of samples per 1,000 samples of the record.
  let share: Double
  /// The range of seconds from a start to the next within a run. `run` is the number of samples in a run.
  let gap: ClosedRange<Int64>
  let run: Int
  /// The range of a sample's duration in seconds, limited by the start of the next sample.
  var length: ClosedRange<Int64> = 0...0
  /// Whether each sample ends where the next begins.
  var isContiguous = false
  /// The range of seconds from a sample's end until it is written. Samples that end before then are written with it.
  var delay: ClosedRange<Int64> = 0...2
  /// Whether live samples have microseconds.
  var hasFractions = true
  let content: @Sendable (inout Draw) -> Content

  /// Returns the number of steps for a record of `total` samples. Because a step may give three samples, all kinds
  /// together give at least `total` samples.
  func count(of total: Int) -> Int {
    Int((share / 1000 * Double(total)).rounded(.up))
  }

  static func quantity(_ value: Double, _ unit: String, _ metadata: Metadata = [:]) -> Content {
    Content(payload: .quantity(Quantity(value, unit)), metadata: metadata)
  }
}
