import HealthModel

/// What makes Home Assistant show a topic as a sensor (home-assistant.io/integrations/mqtt, "MQTT Discovery").
struct HomeAssistantDiscovery: Sendable {
  /// `homeassistant`, unless Home Assistant was told another.
  let prefix: String
  /// `ada`, as it stands in identifiers.
  let person: String
  /// Has `online` and `offline`.
  let availabilityTopic: String

  func topic(of entity: HomeAssistantEntity) -> String { "\(prefix)/sensor/hpeer_\(person)/\(entity.key)/config" }

  /// - Parameter topic: where the values of the type are.
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
    // Versions before 2025.10 read the first, later ones the second.
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
