import HealthModel

/// The MQTT discovery messages that make Home Assistant display topics as sensors
/// (home-assistant.io/integrations/mqtt, "MQTT Discovery").
struct HomeAssistantDiscovery: Sendable {
  /// The discovery prefix, `homeassistant` unless Home Assistant is configured otherwise.
  let prefix: String
  /// The person in identifiers: `ada`.
  let person: String
  /// The topic with `online` and `offline`.
  let availabilityTopic: String

  func topic(of entity: HomeAssistantEntity) -> String { "\(prefix)/sensor/hpeer_\(person)/\(entity.key)/config" }

  /// Returns the discovery message for a type.
  ///
  /// - Parameter topic: the topic of the type's values.
  func configuration(of entity: HomeAssistantEntity, valuesAt topic: String) throws -> [UInt8] {
    let id = "hpeer_\(person)_\(entity.key)"
    let device: [String: JSONValue] = [
      "identifiers": .array([.string("hpeer_\(person)")]), "name": .string("Health of \(person)"),
      "manufacturer": .string("hpeer"), "model": .string("Health record"),
    ]
    var members: [String: JSONValue] = [
      "name": .string(entity.name), "unique_id": .string(id), "state_topic": .string(topic),
      "value_template": .string("{{ value_json.value }}"), "json_attributes_topic": .string(topic),
      "availability_topic": .string(availabilityTopic), "device": .object(device),
      "origin": .object(["name": .string("hpeer")]),
    ]
    // Versions before 2025.10 read the first, later versions the second.
    members["object_id"] = .string(id)
    members["default_entity_id"] = .string("sensor.\(id)")
    if entity.stateClass == .total { members["last_reset_value_template"] = .string("{{ value_json.start }}") }
    members["unit_of_measurement"] = entity.unit.map(JSONValue.string)
    members["device_class"] = entity.deviceClass.map(JSONValue.string)
    members["state_class"] = (entity.stateClass?.rawValue).map(JSONValue.string)
    members["icon"] = entity.icon.map(JSONValue.string)
    members["suggested_display_precision"] = entity.precision.map { .integer(Int64($0)) }
    return Array(try CanonicalJSON.encode(JSONValue.object(members)).utf8)
  }
}
