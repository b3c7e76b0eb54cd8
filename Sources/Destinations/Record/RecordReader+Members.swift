import HealthModel
import HealthStore

/// What belongs to a sample and may have come in another batch.
extension RecordReader {
  /// The members of a correlation that are there and may be had; of other samples, none.
  func members(of sample: Sample) async throws(StoreError) -> [Sample] {
    guard case .correlation(let correlation) = sample.payload else { return [] }
    var members: [Sample] = []
    for reference in correlation.members where filter.passes(reference) {
      guard let member = try await store.samples.sample(reference), filter.passes(member) else { continue }
      members.append(told(member))
    }
    return members
  }

  /// The parts of a workout's route in their order, as far as they may be had.
  func routes(of workout: Sample) async throws(StoreError) -> [Sample] {
    guard filter.passes(.workoutRoute) else { return [] }
    // A watch that looks for satellites begins a route before its workout, or after it.
    let margin: Int64 = 3_600_000_000
    let start = Timestamp(microseconds: workout.start.microseconds.subtractingReportingOverflow(margin).partialValue)
    let end = Timestamp(microseconds: workout.end.microseconds.addingReportingOverflow(margin).partialValue)
    guard start < end else { return [] }
    var routes: [Sample] = []
    for reference in try await store.samples.routes(in: start..<end, from: filter.sources)
    where reference.workout == workout.reference && filter.passes(reference.route) {
      if let route = try await store.samples.sample(reference.route) { routes.append(told(route)) }
    }
    return routes
  }

  /// One sample; `nil` where it is not there, or not for this destination.
  func sample(_ reference: SampleReference) async throws(StoreError) -> Sample? {
    guard filter.passes(reference), let sample = try await store.samples.sample(reference), filter.passes(sample) else {
      return nil
    }
    return told(sample)
  }
}
