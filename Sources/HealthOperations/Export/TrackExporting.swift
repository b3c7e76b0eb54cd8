import HealthFormats
import HealthModel
import HealthStore

extension ExportFormat {
  /// The routes of workouts as tracks, with the heart rate (GPX 1.1). A filter for workouts exports their routes.
  public static let gpx = ExportFormat(
    "gpx", suffix: "gpx", subject: Subject(namedBy: [.workout, .workoutRoute], type: .workoutRoute),
    lack: "there are no points on Earth", takes: .workouts
  ) { exporting, content in
    try await exporting.writeTracks(
      GPXWriter(exported: content.exported), withHeartRates: content.filter.passes(Exporting.heartRate))
  }
}

extension Exporting {
  /// Writes the routes, each with the activity of its workout and its heart rate, if the filter passes these.
  fileprivate func writeTracks(_ writer: GPXWriter, withHeartRates: Bool) async throws -> ExportSummary {
    try await writing {
      var points = 0
      var bytes: [UInt8] = []
      writer.begin(into: &bytes)
      var summary = try await appendSamples(to: &bytes) { sample, bytes in
        let written = try await append(sample, with: writer, withHeartRates, to: &bytes)
        points += written
        return written > 0
      }
      summary.points = points
      writer.end(into: &bytes)
      try await flush(&bytes)
      return summary
    }
  }

  /// Appends a route.
  ///
  /// - Returns: the number of points written.
  private func append(
    _ sample: Sample, with writer: GPXWriter, _ withHeartRates: Bool, to bytes: inout [UInt8]
  ) async throws -> Int {
    guard case .workoutRoute(let route) = sample.payload else { return 0 }
    var name = "Workout"
    if let reference = route.workout,
      case .workout(let workout)? = try await reader.store.samples.sample(reference)?.payload
    {
      name = workout.activityType.displayName
    }
    return writer.append(
      route, from: sample.start, named: name, heartRates: withHeartRates ? try await heartRates(during: sample) : [],
      to: &bytes)
  }

  private func heartRates(during route: Sample) async throws -> [GPXWriter.HeartRate] {
    guard route.start < route.end else { return [] }
    let reach = GPXWriter.heartRateReach
    let (start, isTooEarly) = route.start.microseconds.subtractingReportingOverflow(reach)
    let (end, isTooLate) = route.end.microseconds.addingReportingOverflow(reach)
    if isTooEarly || isTooLate { return [] }
    let sources = reader.filter.sources
    let rates = try await reader.store.samples.numbers { numbers in
      var rates: [GPXWriter.HeartRate] = []
      // A heart rate that begins before the range belongs to none of the points, however long it lasts.
      try numbers.forEach(Self.heartRate, overlapping: start..<end, from: sources, noLongerThan: 0) { sample in
        // The time range of a route comes from a peer and may be anything.
        guard sample.value.isFinite, rates.count < Self.mostRates else { return }
        rates.append(GPXWriter.HeartRate(time: Timestamp(microseconds: sample.start), value: sample.value))
      }
      return rates
    }
    return rates
  }

  fileprivate static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  /// The maximum number of heart rates: one a second for eleven days. A route may claim to be longer.
  private static let mostRates = 1_000_000
}
