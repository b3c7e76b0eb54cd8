import HealthModel

/// A type as one recorder writes it: how much of it there is, when it comes, and what it says.
struct SeriesKind: Sendable {
  struct Content: Sendable {
    var payload: Payload
    var metadata: Metadata = [:]
    /// The payload is then made to be their correlation.
    var members: [(SampleType, Quantity)] = []
  }

  let type: SampleType
  let person: Recorder
  /// Of 1,000 samples.
  let share: Double
  /// Seconds from one start to the next within a run, and samples in a run.
  let gap: ClosedRange<Int64>
  let run: Int
  /// Seconds that one lasts, at most to the next.
  var length: ClosedRange<Int64> = 0...0
  /// One ends where the next begins.
  var isContiguous = false
  /// Seconds from a sample's end to when it is written; what ends before then is written with it.
  var delay: ClosedRange<Int64> = 0...2
  /// Whether it has microseconds when it comes live.
  var hasFractions = true
  let content: @Sendable (inout Draw) -> Content

  /// Of `total` samples in all; as one step may give three, they are at least so many together.
  func count(of total: Int) -> Int {
    Int((share / 1000 * Double(total)).rounded(.up))
  }

  static func quantity(_ value: Double, _ unit: String, _ metadata: Metadata = [:]) -> Content {
    Content(payload: .quantity(Quantity(value, unit)), metadata: metadata)
  }
}
