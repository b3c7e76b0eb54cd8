import HealthModel

@testable import HealthFormats

extension FuzzTarget {
  /// Fuzzes the body of an inbox request, which may be compressed. libFuzzer limits memory and time.
  @Sendable static func inbox(_ input: [UInt8]) {
    var limits = InboxBody.Limits()
    (limits.contentBytes, limits.values, limits.samples, limits.alike) = (1 << 20, 20_000, 500, 20)
    let now = Timestamp(seconds: 1_700_000_000)
    func read() -> Result<InboxBody, InboxBodyError> {
      do throws(InboxBodyError) {
        return .success(try InboxBody(input, aggregation: "Days", limits: limits, now: now))
      } catch {
        return .failure(error)
      }
    }
    switch (read(), read()) {
    case (.failure(let first), .failure(let second)): require(first == second, "the same refusal")
    case (.success(var body), .success(let again)):
      require(body.count == again.count && body.names == again.names, "the same body")
      require(body.count <= limits.samples, "no more than is allowed")
      for batch in body.batches {
        require(batch.changes.tombstones.isEmpty, "nothing is deleted")
        require(batch.readings.allSatisfy { $0.created ?? now <= now }, "no reading of tomorrow")
      }
      body.leaveOutPerson()
      let wanted = SampleType("HKQuantityTypeIdentifierStepCount")
      let (count, left) = (body.count, body.keep([wanted]))
      require(body.count == count - left, "what is left out is counted")
      for batch in body.batches {
        let types = batch.changes.samples.map { batch.changes.types[Int($0.type)] } + batch.readings.map(\.type)
        require(types.allSatisfy { $0 == wanted || AppReadings.healthKit($0) == wanted }, "only what is wanted")
      }
    default: require(false, "the same answer twice")
    }
  }
}
