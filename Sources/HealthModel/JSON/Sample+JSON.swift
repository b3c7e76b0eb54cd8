import Foundation

/// A sample as one JSON object: `uuid`, `type`, `start`, `end`, `source`, `kind`, `payload`; `created`, `device` and
/// `metadata` where there are any. Instants are ISO 8601 in UTC. `payload` depends on `kind` (see ``Payload``).
extension Sample: Codable {
  private enum Key: String, CodingKey {
    case uuid, type, start, end, created, source, device, metadata, kind, payload
  }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    let kind = try object.decode(String.self, forKey: .kind)
    let payload: Payload =
      switch kind {
      case "quantity": .quantity(try object.decode(Quantity.self, forKey: .payload))
      case "category": .category(try object.decode(CategoryValue.self, forKey: .payload))
      case "correlation": .correlation(try object.decode(Correlation.self, forKey: .payload))
      case "workout": .workout(try object.decode(Workout.self, forKey: .payload))
      case "activitySummary": .activitySummary(try object.decode(ActivitySummary.self, forKey: .payload))
      case "characteristic": .characteristic(try object.decode(CharacteristicValue.self, forKey: .payload))
      default: try Payload(open: kind, in: object, forKey: .payload)
      }
    self.init(
      uuid: try object.decode(UUID.self, forKey: .uuid),
      type: try object.decode(SampleType.self, forKey: .type),
      start: try object.decode(Timestamp.self, forKey: .start),
      end: try object.decode(Timestamp.self, forKey: .end),
      created: try object.decodeIfPresent(Timestamp.self, forKey: .created),
      source: try object.decode(Source.self, forKey: .source),
      device: try object.decodeIfPresent(Device.self, forKey: .device),
      metadata: try object.decodeIfPresent(Metadata.self, forKey: .metadata) ?? [:],
      payload: payload)
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(uuid, forKey: .uuid)
    try object.encode(type, forKey: .type)
    try object.encode(start, forKey: .start)
    try object.encode(end, forKey: .end)
    try object.encodeIfPresent(created, forKey: .created)
    try object.encode(source, forKey: .source)
    try object.encodeIfPresent(device, forKey: .device)
    if !metadata.isEmpty { try object.encode(metadata, forKey: .metadata) }
    try object.encode(payload.kind, forKey: .kind)
    switch payload {
    case .quantity(let quantity): try object.encode(quantity, forKey: .payload)
    case .category(let category): try object.encode(category, forKey: .payload)
    case .correlation(let correlation): try object.encode(correlation, forKey: .payload)
    case .workout(let workout): try object.encode(workout, forKey: .payload)
    case .activitySummary(let summary): try object.encode(summary, forKey: .payload)
    case .characteristic(let value): try object.encode(value, forKey: .payload)
    case .workoutRoute(let route): try object.encode(route, forKey: .payload)
    case .electrocardiogram(let electrocardiogram): try object.encode(electrocardiogram, forKey: .payload)
    case .audiogram(let audiogram): try object.encode(audiogram, forKey: .payload)
    case .visionPrescription(let prescription): try object.encode(prescription, forKey: .payload)
    case .clinicalRecord(let record): try object.encode(record, forKey: .payload)
    case .unknown(_, let content): try object.encode(content, forKey: .payload)
    }
  }
}

extension Payload {
  /// A payload of a kind whose content may be of another version: what its structure has no place for stays JSON.
  ///
  /// Versions before these kinds kept Apple's audiograms, prescriptions and clinical records as `attributes` and
  /// `children`; stores and peers still hold such samples.
  fileprivate init<Key>(open kind: String, in object: KeyedDecodingContainer<Key>, forKey key: Key) throws {
    func content<Value: Decodable>(_ type: Value.Type) -> Value? { try? object.decode(type, forKey: key) }
    let known: Payload? =
      switch kind {
      case "workoutRoute": content(WorkoutRoute.self).map(Payload.workoutRoute)
      case "electrocardiogram": content(Electrocardiogram.self).map(Payload.electrocardiogram)
      case "audiogram": content(Audiogram.self).map(Payload.audiogram)
      case "visionPrescription": content(VisionPrescription.self).map(Payload.visionPrescription)
      case "clinicalRecord": content(ClinicalRecord.self).map(Payload.clinicalRecord)
      default: nil
      }
    if let known {
      self = known
    } else {
      self = .unknown(kind: kind, content: try object.decodeIfPresent(JSONValue.self, forKey: key) ?? .null)
    }
  }
}
