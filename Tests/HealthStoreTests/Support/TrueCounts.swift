import HealthModel
import HealthStore
import Testing

extension HealthStore {
  /// Expects that every kind of query gives results that match the individual samples that are shown.
  func expectTrueCounts(_ place: Comment, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    var shown: [SampleType: Int] = [:]
    let record = try await digests.current().record
    for type in record.types.map(\.type) {
      let count = try await samples.page(of: type, limit: .max).count
      if count > 0 { shown[type] = count }
    }
    let kept = try await samples.typeCounts()
    #expect(
      Dictionary(uniqueKeysWithValues: kept.map { ($0.type, $0.samples) }) == shown, place,
      sourceLocation: sourceLocation)
    #expect(try await samples.counted(.everything).counts == kept, place, sourceLocation: sourceLocation)
    for (type, count) in shown {
      #expect(try await samples.count(of: type, in: nil) == count, place, sourceLocation: sourceLocation)
    }
  }
}
