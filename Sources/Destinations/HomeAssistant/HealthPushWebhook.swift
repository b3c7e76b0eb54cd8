import Cryptography
import Foundation
import HealthAnalysis
import HealthModel

/// A client for the webhook of HealthPush's Home Assistant component. It sends what HealthPush's app sends, but with
/// correct totals in place of the last sample.
///
/// The component answers 200 with an empty body for an unknown id and for a secret that is not ASCII. Only a body
/// that names the number of accepted metrics is a success.
struct HealthPushWebhook: Sendable {
  /// A metric that the component has a sensor for.
  private struct Metric {
    /// HealthPush's own name of the type, which is part of its identifiers.
    var name: String
    var key: String
    var unit: String
    var isWhole = false
  }

  let service: HTTPService
  /// The URL of Home Assistant itself.
  let url: URL
  let id: String
  let secret: String?
  let record: RecordReader

  private var host: String { url.host(percentEncoded: false) ?? "" }

  /// Sends the current values of those types that the component knows.
  func update(_ types: Set<SampleType>) async throws {
    var metrics: [JSONValue] = []
    for type in types.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let metric = Self.metrics[type.shortName], let value = try await record.currentValue(of: type),
        let number = value.number
      else { continue }
      metrics.append(json(metric, value, HomeAssistantEntity(type).value(number)))
    }
    if metrics.isEmpty { return }
    let response = try await post(name: "HealthPush", metrics, timestamp: true)
    guard response.status == 200, Self.isAccepted(response.body) else { throw refusal(response) }
  }

  /// Sends an empty delivery, which the component refuses with a recognizable text.
  func check() async throws {
    let response = try await post(name: "HealthPush Test", [], timestamp: false)
    guard response.status == 400, String(decoding: response.body, as: UTF8.self).contains("metrics") else {
      throw refusal(response)
    }
  }

  private func post(name: String, _ metrics: [JSONValue], timestamp: Bool) async throws -> HTTPService.Response {
    var body: [String: JSONValue] = ["device_name": .string(name), "metrics": .array(metrics)]
    if timestamp { body["timestamp"] = .string(Self.text(.now)) }
    var headers = [(name: "Content-Type", value: "application/json")]
    if let secret { headers.append(("X-Webhook-Secret", secret)) }
    let response = try await service.answer(
      to: HTTPService.Request(
        "POST", url.appending(path: "api/webhook/\(id)").absoluteString, headers: headers,
        body: Array(try CanonicalJSON.encode(body).utf8)))
    if response.status == 401 { throw DeliveryError.unusable(reason: "\(host) says that webhook-secret is wrong") }
    if let error = HTTPService.failure(response) { throw error }
    return response
  }

  private func refusal(_ response: HTTPService.Response) -> DeliveryError {
    switch response.status {
    case 200:
      .unusable(
        reason: "\(host) answers without having taken anything: no webhook has this webhook-id, or HealthPush failed")
    case 404: .unusable(reason: "\(host) has no webhooks there: is url Home Assistant's?")
    default: .unusable(reason: "the webhook of \(host) answers \(response.status)")
    }
  }

  /// Returns whether a body reports acceptance: `Accepted 3 metric(s)`.
  static func isAccepted(_ body: [UInt8]) -> Bool {
    String(decoding: body.prefix(256), as: UTF8.self).prefixMatch(of: /Accepted [0-9]+ metric/) != nil
  }

  // MARK: Metrics

  private func json(_ metric: Metric, _ value: CurrentValue, _ number: Double) -> JSONValue {
    let rounded = metric.isWhole ? number.rounded(.towardZero) : (number * 100).rounded() / 100
    let day = record.zone.dayNumber(at: value.end.seconds - (value.type == SleepQuery.type ? 0 : 1))
    return .object([
      "id": .string(Self.id(Timestamp(seconds: Int64(day) * 86_400), metric.name).uuidString),
      "type": .string(metric.key), "value": Int64(exactly: rounded).map(JSONValue.integer) ?? .number(rounded),
      "unit": .string(metric.unit), "start_date": .string(Self.text(value.start)),
      "end_date": .string(Self.text(value.end)),
    ])
  }

  /// Returns HealthPush's identifier of a day's aggregate: a SHA-256 hash that looks like a version 5 UUID.
  ///
  /// - Parameter day: midnight of the day in UTC.
  static func id(_ day: Timestamp, _ name: String) -> UUID {
    var bytes = Array(SHA256.hash(data: Data("\(day.iso8601.prefix(10)):\(name):sum".utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// Returns an instant with milliseconds, as the app writes it.
  private static func text(_ instant: Timestamp) -> String {
    let milliseconds = (instant.microseconds - instant.seconds * 1_000_000) / 1_000
    let fraction = String(repeating: "0", count: 3 - "\(milliseconds)".count) + "\(milliseconds)"
    return "\(Timestamp(seconds: instant.seconds).iso8601.dropLast()).\(fraction)Z"
  }

  /// The component's metrics, by the catalogue's short names.
  private static let metrics: [String: Metric] = [
    "stepCount": Metric(name: "steps", key: "steps", unit: "steps", isWhole: true),
    "activeEnergyBurned": Metric(name: "activeEnergyBurned", key: "active_energy", unit: "kcal"),
    "basalEnergyBurned": Metric(name: "basalEnergyBurned", key: "resting_energy", unit: "kcal"),
    "distanceWalkingRunning": Metric(name: "distanceWalkingRunning", key: "walking_running_distance", unit: "km"),
    "distanceCycling": Metric(name: "distanceCycling", key: "cycling_distance", unit: "km"),
    "flightsClimbed": Metric(name: "flightsClimbed", key: "flights_climbed", unit: "flights", isWhole: true),
    "appleExerciseTime": Metric(name: "appleExerciseTime", key: "exercise_minutes", unit: "min"),
    "appleStandTime": Metric(name: "appleStandTime", key: "stand_time", unit: "min"),
    "appleMoveTime": Metric(name: "appleMoveTime", key: "move_time", unit: "min"),
    "bodyMass": Metric(name: "bodyMass", key: "weight", unit: "kg"),
    "bodyMassIndex": Metric(name: "bodyMassIndex", key: "bmi", unit: "BMI"),
    "bodyFatPercentage": Metric(name: "bodyFatPercentage", key: "body_fat", unit: "%"),
    "height": Metric(name: "height", key: "height", unit: "cm"),
    "leanBodyMass": Metric(name: "leanBodyMass", key: "lean_body_mass", unit: "kg"),
    "heartRate": Metric(name: "heartRate", key: "heart_rate", unit: "bpm"),
    "restingHeartRate": Metric(name: "restingHeartRate", key: "resting_heart_rate", unit: "bpm"),
    "heartRateVariabilitySDNN": Metric(name: "heartRateVariabilitySDNN", key: "hrv", unit: "ms"),
    "bloodPressureSystolic": Metric(name: "bloodPressureSystolic", key: "blood_pressure_systolic", unit: "mmHg"),
    "bloodPressureDiastolic": Metric(name: "bloodPressureDiastolic", key: "blood_pressure_diastolic", unit: "mmHg"),
    "oxygenSaturation": Metric(name: "oxygenSaturation", key: "blood_oxygen", unit: "%"),
    "respiratoryRate": Metric(name: "respiratoryRate", key: "respiratory_rate", unit: "breaths/min"),
    "bodyTemperature": Metric(name: "bodyTemperature", key: "body_temperature", unit: "degC"),
    "sleepAnalysis": Metric(name: "sleepAnalysis", key: "sleep", unit: "hr"),
    "dietaryEnergyConsumed": Metric(name: "dietaryEnergyConsumed", key: "dietary_energy", unit: "kcal"),
    "dietaryWater": Metric(name: "dietaryWater", key: "water_intake", unit: "mL"),
  ]
}
