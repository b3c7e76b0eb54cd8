import HealthModel

/// What is meant by a type of an app's own.
enum InboxTypes {
  /// The type of HealthKit whose numbers an app sends under a name of its own; `nil` where there is none.
  static func healthKit(_ type: SampleType) -> SampleType? {
    let name = type.rawValue
    if name.hasPrefix("hae.") { return AutoExportMetrics.type(of: String(name.dropFirst(4))) }
    if name.hasPrefix("healthpush.") {
      return HealthPushMetric.identifiers[String(name.dropFirst(11))].map { SampleType($0) }
    }
    if name.hasPrefix("p247.") { return DailySummaryMetric.known[String(name.dropFirst(5))].map { $0.type } }
    return nil
  }
}
