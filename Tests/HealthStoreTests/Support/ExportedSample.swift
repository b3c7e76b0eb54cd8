import Foundation
import HealthModel
import HealthStore

/// A record as an export contains it: without a UUID, in whole seconds.
struct ExportedSample {
  var minute = 0
  var value = 60.0
  var unit = "count/min"
  var source = "Watch"
  var created: Int64? = 5
  var type = SampleType("HKQuantityTypeIdentifierHeartRate")

  var key: SampleKey { SampleKey(kind: "record", sample: sample(ordinal: 0)) }

  private var start: Int64 { 1_704_067_200 + Int64(minute) * 60 }

  func sample(ordinal: Int = 0, identity name: String? = nil) -> Sample {
    var sample = Sample(
      uuid: SampleIdentity.namespace, type: type, start: Timestamp(seconds: start),
      end: Timestamp(seconds: start + 10), created: created.map { Timestamp(seconds: start + $0) },
      source: Source(name: source, version: "10.1"), payload: .quantity(Quantity(value, unit)))
    sample.uuid = SampleKey(kind: "record", sample: sample, source: name).uuid(ordinal: ordinal)
    return sample
  }

  /// Returns the same record as an app sends it: with HealthKit's UUID, fractions of a second and a bundle
  /// identifier.
  func original(_ uuid: UUID = UUID(), offset microseconds: Int64 = 123_456) -> Sample {
    var sample = sample()
    sample.uuid = uuid
    sample.start.microseconds += microseconds
    sample.end.microseconds += microseconds
    sample.created = nil
    sample.source = Source(name: source, bundleIdentifier: "com.apple.health", version: "11")
    return sample
  }
}

extension HealthStore {
  /// Imports samples like an export that contains exactly these.
  @discardableResult
  func importExport(
    _ samples: [Sample], twins: [TwinGroup] = [], file: ImportRecord.File = .init(name: "export.zip"),
    sideFiles: [UUID: SideFileIdentity] = [:], snapshotOf types: Set<SampleType>? = nil
  ) throws -> WriteSummary {
    let writer = try ImportWriter(self, file)
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    try writer.write(coder.changes, sideFiles: sideFiles)
    try writer.write(twins: twins)
    if let types { try writer.deleteMissing(of: types) }
    return writer.summary
  }

  func values(of type: SampleType = ExportedSample().type) async throws -> [Double] {
    try await samples.page(of: type, limit: 1_000).compactMap {
      if case .quantity(let quantity) = $0.payload { quantity.value } else { nil }
    }.sorted()
  }
}
