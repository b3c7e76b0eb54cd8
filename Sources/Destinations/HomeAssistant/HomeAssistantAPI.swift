import Foundation
import HealthModel

/// A client for Home Assistant's REST API for states (developers.home-assistant.io/docs/api/rest).
struct HomeAssistantAPI: Sendable {
  let service: HTTPService
  /// The URL of Home Assistant itself.
  let url: URL
  let token: String

  /// Returns the attributes of an entity's state, or `nil` if the entity has no state. A restart of Home Assistant
  /// deletes all states that were set through this API.
  func attributes(of entity: String) async throws -> [String: JSONValue]? {
    let response = try await send("GET", "states/\(entity)", nil)
    guard response.status == 200 else { return nil }
    guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body)),
      case .object(let attributes)? = members["attributes"]
    else { return [:] }
    return attributes
  }

  func setState(_ entity: String, _ state: JSONValue, attributes: [String: JSONValue]) async throws {
    let body = try CanonicalJSON.encode(["state": state, "attributes": .object(attributes)])
    let response = try await send("POST", "states/\(entity)", Array(body.utf8))
    guard [200, 201].contains(response.status), Self.isState(response.body) else { throw unexpected(response) }
  }

  func removeState(_ entity: String) async throws {
    let response = try await send("DELETE", "states/\(entity)", nil)
    guard [200, 404].contains(response.status), !response.isPage else { throw unexpected(response) }
  }

  /// Returns whether a body is a state: any web server may accept a POST, even a login page.
  private static func isState(_ body: [UInt8]) -> Bool {
    guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(body)) else { return false }
    return members["entity_id"] != nil
  }

  private func send(_ method: String, _ path: String, _ body: [UInt8]?) async throws -> HTTPService.Response {
    let request = HTTPService.Request(
      method, url.appending(path: "api/\(path)").absoluteString,
      headers: [HTTPHeaderText.bearer(token), ("Content-Type", "application/json")], body: body)
    let response = try await service.answer(to: request)
    let host = url.host(percentEncoded: false) ?? ""
    if response.status == 401 {
      throw DeliveryError.unusable(
        reason: "\(host) does not take the token: is it a long-lived access token of this server?")
    }
    if let error = HTTPService.failure(response) { throw error }
    return response
  }

  private func unexpected(_ response: HTTPService.Response) -> DeliveryError {
    .unusable(
      reason:
        "\(url.host(percentEncoded: false) ?? "the server") answers \(response.status) where a state is set: is url "
        + "Home Assistant's?")
  }
}

/// The sensors of a person's types: `sensor.hpeer_ada_step_count`.
struct HomeAssistantStates: Sendable {
  let api: HomeAssistantAPI
  let record: RecordReader
  let person: String

  /// The sensor with the time of the last delivery. If it is missing, Home Assistant has lost its states.
  private var delivered: String { "sensor.hpeer_\(person)_delivered" }

  func entity(_ name: String) -> String { "sensor.hpeer_\(person)_\(name)" }

  /// Returns whether Home Assistant has no states, because it was restarted or never received any.
  func areForgotten() async throws -> Bool { try await api.attributes(of: delivered) == nil }

  /// Checks that the sensors don't belong to another record. Throws ``DeliveryError/unusable(reason:)``.
  func requireOwn() async throws {
    guard case .string(let other)? = try await api.attributes(of: delivered)?["record"], other != recordID else {
      return
    }
    throw DeliveryError.unusable(reason: ForeignRecord.reason("in the sensors of \(person)"))
  }

  /// Removes all sensors, with a request for each type, whether it has a sensor or not.
  func removeAll() async throws {
    let types = Set(try await record.types()).union(SampleTypeCatalogue.healthKit.entries.map(\.type))
    for type in types { try await api.removeState(entity(record.entity(of: type).key)) }
    try await api.removeState(delivered)
  }

  private var recordID: String { record.store.id.uuidString.lowercased() }

  func update(_ types: Set<SampleType>, _ key: DeliveryKey) async throws {
    for type in types.sorted(by: { $0.rawValue < $1.rawValue }) {
      let entity = record.entity(of: type)
      guard let value = try await record.currentValue(of: type) else {
        try await api.removeState(self.entity(entity.key))
        continue
      }
      try await api.setState(self.entity(entity.key), state(value, entity), attributes: attributes(value, entity, key))
    }
    try await api.setState(
      delivered, .string(Timestamp.now.iso8601),
      attributes: [
        "device_class": .string("timestamp"), "friendly_name": .string("Health of \(person) delivered"),
        "anchor": .string(key.description), "record": .string(recordID),
      ])
  }

  private func state(_ value: CurrentValue, _ entity: HomeAssistantEntity) -> JSONValue {
    switch value.content {
    case .number(let number):
      let value = entity.state(number)
      return .string(Int64(exactly: value).map { "\($0)" } ?? "\(value)")
    // The longest state that Home Assistant accepts; bytes are counted to be safe.
    case .text(let text): return .string(text.shortened(toBytes: 255))
    }
  }

  private func attributes(
    _ value: CurrentValue, _ entity: HomeAssistantEntity, _ key: DeliveryKey
  ) -> [String: JSONValue] {
    var members = value.details.mapValues { JSONValue.number(HomeAssistantEntity.withoutBinaryNoise($0)) }
    members["friendly_name"] = .string("\(entity.name) (\(person))")
    members["unit_of_measurement"] = entity.unit.map(JSONValue.string)
    members["device_class"] = entity.deviceClass.map(JSONValue.string)
    members["state_class"] = (entity.stateClass?.rawValue).map(JSONValue.string)
    members["last_reset"] = entity.stateClass == .total ? .string(value.start.iso8601) : nil
    members["icon"] = entity.icon.map(JSONValue.string)
    members["start"] = .string(value.start.iso8601)
    members["end"] = .string(value.end.iso8601)
    members["source"] = value.source.map(JSONValue.string)
    members["anchor"] = .string(key.description)
    return members
  }
}
