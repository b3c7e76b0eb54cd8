import HealthModel

/// What a body is, told by its content, and its reader.
enum InboxKind {
  case healthAppTransfer(HealthAppTransferFile.Form)
  case healthAutoExport
  case healthPush
  case dailySummary

  /// `nil` for anything that an inbox does not take, also where an import would: a change feed may delete.
  init?(_ content: [UInt8]) {
    if let own = Self.object(content) {
      self = own
      return
    }
    switch SampleFileKind(Array(content.prefix(ExportLocator.sniffSize))) {
    case .healthAppTransfer(let form): self = .healthAppTransfer(form)
    case .healthAutoExport: self = .healthAutoExport
    case .samples, .synchronisationFile, .autoExportTable, nil: return nil
    }
  }

  /// HealthPush's object has `metrics` beside `device_name`, P247's a list of days as its `data`.
  private static func object(_ content: [UInt8]) -> InboxKind? {
    guard content.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
    var found: InboxKind?
    // What cannot be read any further is for a reader to say.
    try? look(JSONScanner(source: MemorySource(content), path: "the body"), &found)
    return found
  }

  private static func look(_ scanner: consuming JSONScanner, _ found: inout InboxKind?) throws {
    var hasMetrics = false
    var hasDeviceName = false
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      let first = try scanner.peek()
      switch key {
      case "data" where first == UInt8(ascii: "["):
        found = .dailySummary
        return
      case "data": return
      case "metrics" where first == UInt8(ascii: "["): hasMetrics = true
      case "device_name": hasDeviceName = true
      default: break
      }
      if hasMetrics, hasDeviceName {
        found = .healthPush
        return
      }
      try scanner.skipValue()
    }
  }

  var format: InboxBody.Format {
    switch self {
    case .healthAppTransfer: .healthAppTransfer
    case .healthAutoExport: .healthAutoExport
    case .healthPush: .healthPush
    case .dailySummary: .dailySummary
    }
  }

  /// - Throws: ``InboxBodyError``, also where the content ends in the middle.
  func read(
    _ content: [UInt8], period: AggregationPeriod?, now: Timestamp, _ limits: InboxBody.Limits,
    into collector: inout InboxCollector
  ) throws(InboxBodyError) -> ImportReport {
    var batches = collector
    do {
      let report: ImportReport
      switch self {
      case .healthAppTransfer(let form):
        // The app ends its last row: one that does not end may lack a digit.
        if form == .csv, content.last != 0x0A, content.last != 0x0D {
          throw InboxBodyError.endsEarly(place: "its last row")
        }
        report = try HealthAppTransferFile(form, bytes: content).read { try batches.add($0) }
      case .healthAutoExport:
        report = try HealthAutoExport(bytes: content).read(asOf: now, period: period) { try batches.add($0) }
      case .healthPush:
        report = try HealthPushWebhookReader.read(content, now: now) { try batches.add($0) }
      case .dailySummary:
        report = try DailySummaryReader.read(content, now: now) { try batches.add($0) }
      }
      guard report.isComplete else { throw InboxBodyError.endsEarly(place: report.end?.place ?? "its end") }
      collector = batches
      return report
    } catch {
      throw InboxBodyError(error, limits)
    }
  }
}
