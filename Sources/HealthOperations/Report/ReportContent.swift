import HealthAnalysis
import HealthModel

/// The content of a report for a doctor.
struct ReportContent {
  /// The days, counted since 1970-01-01.
  var days: ClosedRange<Int>
  var zone: ZoneRules
  var person: Person
  var made: Timestamp
  var measures: [Measure]
  var pressures: [BloodPressure]
  /// The nights that ended on these days.
  var nights: [Night]
  /// The workouts without duplicates.
  var workouts: [WorkoutSummary]
  /// The newest electrocardiograms, newest first.
  var electrocardiograms: [(instant: Timestamp, source: String, value: Electrocardiogram)]
  /// The time range of all samples, set only if the report is empty.
  var recorded: ClosedRange<Timestamp>?

  /// The statistics of one type.
  struct Measure {
    var type: SampleType
    /// The English name in the Health app.
    var name: String
    /// The unit of every value.
    var unit: String
    var isSum: Bool
    /// Whether the measure belongs in the table of other measurements.
    var isOther = false
    /// The values of each day, by days since 1970-01-01.
    var days: [Int: Value]
    /// The number of samples.
    var count: Int
    /// The names of the sources, most samples first.
    var sources: [String]

    /// The values of one day.
    struct Value {
      var low: Double
      var middle: Double
      var high: Double
      var last: Double
    }
  }

  /// The measures in the table of other measurements.
  var others: [Measure] { measures.filter(\.isOther) }

  func measure(_ name: String) -> Measure? {
    measures.first { $0.type.rawValue == "HKQuantityTypeIdentifier" + name }
  }

  /// Whether the report has no data.
  var isEmpty: Bool {
    measures.isEmpty && pressures.isEmpty && nights.isEmpty && workouts.isEmpty && electrocardiograms.isEmpty
  }
}
