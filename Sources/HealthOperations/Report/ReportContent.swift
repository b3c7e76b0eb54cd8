import HealthAnalysis
import HealthModel

/// What a report for a doctor says.
struct ReportContent {
  /// Days since 1970-01-01, whole ones.
  var days: ClosedRange<Int>
  var zone: ZoneRules
  var person: Person
  var made: Timestamp
  var measures: [Measure]
  var pressures: [BloodPressure]
  /// Those that ended on the days.
  var nights: [Night]
  /// Those that count.
  var workouts: [WorkoutSummary]
  /// Newest first.
  var electrocardiograms: [(instant: Timestamp, source: String, value: Electrocardiogram)]
  /// When the record has samples, where there is nothing to say of the days.
  var recorded: ClosedRange<Timestamp>?

  /// The numbers of one type.
  struct Measure {
    var type: SampleType
    /// In English, as the Health app shows it.
    var name: String
    /// Of all numbers.
    var unit: String
    var isSum: Bool
    /// Whether reports have no part of their own for it.
    var isOther = false
    /// What each day has, by days since 1970-01-01.
    var days: [Int: Value]
    /// How many samples there are.
    var count: Int
    /// Names, those with the most samples first.
    var sources: [String]

    /// What one day has.
    struct Value {
      var low: Double
      var middle: Double
      var high: Double
      var last: Double
    }
  }

  /// Those that no other part of a report is about.
  var others: [Measure] { measures.filter(\.isOther) }

  func measure(_ name: String) -> Measure? {
    measures.first { $0.type.rawValue == "HKQuantityTypeIdentifier" + name }
  }

  /// Whether there is nothing to say.
  var isEmpty: Bool {
    measures.isEmpty && pressures.isEmpty && nights.isEmpty && workouts.isEmpty && electrocardiograms.isEmpty
  }
}
