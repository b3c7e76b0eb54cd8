import HealthModel

/// Some samples of an export, in the order of the file.
public struct ImportBatch: Sendable {
  /// Samples with the identities of ``SampleIdentity/uuid(kind:type:source:start:end:created:ordinal:)``.
  public var samples: [Sample]
  /// The person's characteristics and the days' activity summaries, whose values change from one export to the next.
  /// `created` is the export's date. A characteristic starts and ends at 1970-01-01T00:00:00Z, a day's summary spans
  /// its calendar day as if it were UTC.
  public var drifting: [Sample]

  public init(samples: [Sample] = [], drifting: [Sample] = []) {
    self.samples = samples
    self.drifting = drifting
  }
}
