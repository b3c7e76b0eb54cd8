import HealthFormats
import HealthModel

/// A request body, and the samples that it cannot represent.
struct WebhookDocument: Sendable {
  var bytes: [UInt8] = []
  var refused: [RefusedSample] = []
  /// Whether the body has no content.
  var isEmpty = true
}

/// A format of a request body.
enum WebhookBody: String, CaseIterable, Sendable {
  /// The lines of the change feed.
  case ndjson
  /// A row for each sample.
  case csv
  /// The formats of the app HealthAppTransfer.
  case hat1 = "hat-json-v1"
  case hat2 = "hat-json-v2"
  case hatCSV = "hat-csv"
  /// The records of the app HealthPush, as in its files.
  case healthPush = "healthpush"
  /// The format of the app Health Auto Export.
  case healthAutoExport = "health-auto-export"

  var contentType: String {
    switch self {
    case .ndjson, .healthPush: "application/x-ndjson"
    case .csv, .hatCSV: "text/csv; charset=utf-8"
    case .hat1, .hat2, .healthAutoExport: "application/json"
    }
  }

  /// Whether the format can express deletions.
  var hasDeletions: Bool { self == .ndjson || self == .healthPush }

  /// Encodes a batch, with related samples from the record. Throws `DecodingError`, `StoreError`.
  func document(of batch: DeliveryBatch, _ record: RecordReader) async throws -> WebhookDocument {
    switch self {
    case .ndjson: try Self.whole(batch, ChangeFeedWriter())
    case .csv: try Self.whole(batch, SampleCSVWriter())
    case .hat1: try await selection(batch, record, HealthAppTransferWriter(.json1, exported: .now))
    case .hat2: try await selection(batch, record, HealthAppTransferWriter(.json2, exported: .now))
    case .hatCSV: try await selection(batch, record, HealthAppTransferWriter(.csv, exported: .now))
    case .healthPush: try Self.records(batch, record)
    case .healthAutoExport: try await autoExport(batch, record)
    }
  }

  /// Returns the bytes compressed as one gzip member.
  func gzip(_ bytes: [UInt8]) -> [UInt8] {
    let compressor = FileCompression.gzip.compressor()
    return compressor.compress(bytes) + compressor.finish()
  }

  /// Encodes a batch in a format that can represent every sample.
  private static func whole(_ batch: DeliveryBatch, _ writer: some SampleFileWriter) throws -> WebhookDocument {
    var (writer, document) = (writer, WebhookDocument())
    writer.begin(into: &document.bytes)
    try writer.append(batch.changes, to: &document.bytes)
    writer.end(into: &document.bytes)
    document.isEmpty = batch.count == 0
    return document
  }

  /// Encodes a batch as one line for each change, deletions first.
  private static func records(_ batch: DeliveryBatch, _ record: RecordReader) throws -> WebhookDocument {
    var document = WebhookDocument()
    let coder = try RecordCoder(batch.changes, DayFiles.Options(hasWholeSamples: false), zone: record.zone)
    var writer = coder.writer()
    for row in batch.changes.tombstones {
      try writer.write(row)
      writer.bytes.append(UInt8(ascii: "\n"))
    }
    for row in batch.changes.samples {
      try writer.write(row)
      writer.bytes.append(UInt8(ascii: "\n"))
    }
    document.bytes = writer.bytes
    document.isEmpty = writer.bytes.isEmpty
    return document
  }

  private func refuse(_ sample: Sample, _ document: inout WebhookDocument) {
    document.refused.append(RefusedSample(sample.reference, reason: "a body of \(rawValue) has no place for it"))
  }

  /// Encodes a batch sorted by type, as these formats require.
  private func selection(
    _ batch: DeliveryBatch, _ record: RecordReader, _ writer: some SelectiveFileWriter
  ) async throws -> WebhookDocument {
    var (writer, document) = (writer, WebhookDocument())
    writer.begin(into: &document.bytes)
    for sample in try batch.additionsByType() {
      if writer.append(sample, members: try await record.members(of: sample), to: &document.bytes) {
        document.isEmpty = false
      } else {
        refuse(sample, &document)
      }
    }
    writer.end(into: &document.bytes)
    return document
  }

  /// Encodes a batch for Health Auto Export. Workouts come last, each with its complete route: when a part of a route
  /// arrives later, the whole workout is sent again.
  private func autoExport(_ batch: DeliveryBatch, _ record: RecordReader) async throws -> WebhookDocument {
    let samples = try batch.additionsByType()
    let offset = samples.first.map { record.zone.offset(at: $0.start.seconds) } ?? 0
    var writer = HealthAutoExportWriter(offset: offset - offset % 60)
    var document = WebhookDocument()
    var workouts: [SampleReference: Sample] = [:]
    var order: [SampleReference] = []
    var routes: [Sample] = []
    writer.begin(into: &document.bytes)
    for sample in samples {
      switch sample.payload {
      case .workout:
        workouts[sample.reference] = sample
        order.append(sample.reference)
      case .workoutRoute: routes.append(sample)
      default:
        if writer.append(sample, members: try await record.members(of: sample), to: &document.bytes) {
          document.isEmpty = false
        } else {
          refuse(sample, &document)
        }
      }
    }
    for route in routes {
      guard case .workoutRoute(let content) = route.payload, let reference = content.workout else {
        refuse(route, &document)
        continue
      }
      // A route whose workout is not in the batch brings the workout with it.
      if workouts[reference] == nil, let workout = try await record.sample(reference) {
        workouts[reference] = workout
        order.append(reference)
      }
    }
    for workout in order.compactMap({ workouts[$0] }) {
      guard writer.beginWorkout(workout, to: &document.bytes) else {
        refuse(workout, &document)
        continue
      }
      document.isEmpty = false
      for route in try await record.routes(of: workout) { _ = writer.append(route: route, to: &document.bytes) }
      writer.endWorkout(to: &document.bytes)
    }
    writer.end(into: &document.bytes)
    return document
  }
}

extension DeliveryBatch {
  /// Returns the samples to add grouped by type, otherwise in their order. Throws `DecodingError`.
  func additionsByType() throws -> [Sample] {
    try additions().enumerated().sorted {
      ($0.element.type.rawValue, $0.offset) < ($1.element.type.rawValue, $1.offset)
    }.map(\.element)
  }
}
