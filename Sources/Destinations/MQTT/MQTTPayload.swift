import HealthModel

/// What a topic has of a type: `{"anchor":"…","end":"…","source":"Watch","start":"…","unit":"bpm","value":61}`.
enum MQTTPayload {
  /// - Parameters:
  ///   - anchor: the key of the delivery that it comes from.
  static func bytes(_ value: CurrentValue, as entity: HomeAssistantEntity, anchor: DeliveryKey) throws -> [UInt8] {
    var members = value.details.mapValues(number)
    members["value"] =
      switch value.content {
      case .number(let found): number(entity.state(found))
      case .text(let text): .string(text)
      }
    members["unit"] = entity.unit.map(JSONValue.string) ?? value.unit.map(JSONValue.string)
    members["start"] = .string(value.start.iso8601)
    members["end"] = .string(value.end.iso8601)
    members["source"] = value.source.map(JSONValue.string)
    members["anchor"] = .string(anchor.description)
    return Array(try CanonicalJSON.encode(JSONValue.object(members)).utf8)
  }

  private static func number(_ value: Double) -> JSONValue {
    let rounded = HomeAssistantEntity.withoutBinaryNoise(value)
    return Int64(exactly: rounded).map(JSONValue.integer) ?? .number(rounded)
  }
}
