import HealthModel

/// A request body of the app Health Auto Export.
struct HealthAutoExportBody: InboxFormat {
  static let format = InboxBody.Format.healthAutoExport
  static let road = SampleRoad.healthAutoExport

  private let content: [UInt8]

  init?(_ body: InboxCandidate) {
    guard HealthAutoExport.isJSON(body.head) else { return nil }
    content = body.content
  }

  func read(
    period: AggregationPeriod?, now: Timestamp, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try HealthAutoExport(bytes: content).read(asOf: now, period: period, deliver: deliver)
  }
}
