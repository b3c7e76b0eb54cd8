import HealthModel

/// A request body of the app HealthAppTransfer.
struct HealthAppTransferBody: InboxFormat {
  static let format = InboxBody.Format.healthAppTransfer
  static let road = SampleRoad.healthAppTransfer

  private let form: HealthAppTransferFile.Form
  private let content: [UInt8]

  init?(_ body: InboxCandidate) {
    guard let form = HealthAppTransferFile.Form(body.head) else { return nil }
    (self.form, content) = (form, body.content)
  }

  func read(
    period: AggregationPeriod?, now: Timestamp, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    // The app terminates its last row. A row without a line end may lack a digit.
    if form == .csv, content.last != 0x0A, content.last != 0x0D {
      throw InboxBodyError.endsEarly(place: "its last row")
    }
    return try HealthAppTransferFile(form, bytes: content).read(deliver: deliver)
  }
}
