import Foundation
import HealthModel

/// A destination that sends changes to a URL as they happen, in a body format that existing receivers understand.
///
/// A batch is one request, with its key as `Idempotency-Key`. A format that cannot express deletions omits them.
struct WebhookDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("webhook"), "Sends changes to a URL, in a body that many receivers read.", repetition: .byKey,
    passesSamplesOn: true,
    fields: [
      SettingField("url", .url(schemes: ["https", "http"]), "Where to send to.", required: true),
      SettingField("method", .choice(["POST", "PUT"]), "The method of requests.", default: "POST"),
      SettingField(
        "body", .choice(WebhookBody.allCases.map(\.rawValue)),
        "What is sent; only ndjson and healthpush have deletions.",
        default: WebhookBody.ndjson.rawValue),
      SettingField("headers", .table, "Headers for every request; none that are secret."),
      SettingField(
        "secret-headers", .table, "Headers by where their values are: file:PATH, env:NAME or credential:NAME."),
      SettingField("token", .secret, "A token, sent as Authorization: Bearer."),
      SettingField("signing-secret", .secret, "What requests are signed with, as Standard Webhooks does it."),
      SettingField("batch", .integer(1...10_000), "The most samples and deletions of one request.", default: "1000"),
      SettingField("gzip", .boolean, "Compress bodies.", default: "false"),
      SettingField("timeout", .integer(1...3_600), "How many seconds a request may take.", default: "60"),
    ] + HTTPService.fields)

  let capabilities: DestinationCapabilities
  private let url: String
  private let method: String
  private let body: WebhookBody
  private let headers: [(name: String, value: String)]
  private let signature: WebhookSignature?
  private let compresses: Bool
  private let service: HTTPService
  private let record: RecordReader

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    try HTTPService.requireAcceptedRisk(settings, url: try settings.url("url"))
    try WebhookHeaders.validate(settings)
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try Self.validate(settings)
    let url = try settings.url("url")
    self.url = url.absoluteString
    method = try settings.text("method")
    body = WebhookBody(rawValue: try settings.text("body")) ?? .ndjson
    headers = try WebhookHeaders.read(settings, environment.secrets)
    signature = try environment.secrets.read("signing-secret", of: settings).map { secret throws(SettingsError) in
      try WebhookSignature(secret: secret)
    }
    compresses = settings.boolean("gzip")
    record = environment.record
    let timeout = Duration.seconds(try settings.integer("timeout"))
    capabilities = DestinationCapabilities(
      maximumChanges: try settings.integer("batch"), deletes: body.hasDeletions,
      // The extra time is for reading related samples from the record before the request.
      deadline: timeout + .seconds(30), purges: true)
    service = try HTTPService(settings, url: url, timeout: timeout)
  }

  /// Sends a body without samples, marked as a test. The body is empty, so there is nothing to remove afterwards.
  func check() async throws {
    let document = try await body.document(of: .empty(startsOver: false), record)
    let response = try await send(document, key: "test-\(UUID().uuidString.lowercased())", [("Hpeer-Test", "true")])
    // A receiver that only complains about missing samples is reachable.
    if [400, 422].contains(response.status) { return }
    if let error = Self.refusal(response) { throw error }
  }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    let document = try await body.document(of: batch, record)
    if document.isEmpty, !batch.startsOver { return Delivery(refused: document.refused) }
    let response = try await send(
      document, key: key.description, batch.startsOver ? [("Hpeer-Starts-Over", "true")] : [])
    if let error = Self.refusal(response) { throw error }
    return Delivery(refused: document.refused)
  }

  func close() async { await service.close() }

  private func send(
    _ document: WebhookDocument, key: String, _ others: [(name: String, value: String)]
  ) async throws -> HTTPService.Response {
    var bytes = document.bytes
    var headers = [("Content-Type", body.contentType), ("Idempotency-Key", key)] + others + self.headers
    if compresses {
      bytes = body.gzip(bytes)
      headers.append(("Content-Encoding", "gzip"))
    }
    if let signature { headers += signature.headers(id: key, body: bytes, now: Date()) }
    return try await service.send(HTTPService.Request(method, url, headers: headers, body: bytes))
  }

  /// Returns the error for an answer that is no acknowledgement, or `nil`.
  private static func refusal(_ response: HTTPService.Response) -> DeliveryError? {
    if (200...299).contains(response.status) { return nil }
    return HTTPService.misplaced(response) ?? .refused(reason: "it answers \(response.status)")
  }
}
