import Foundation
import HealthModel

/// The removal of source and device names from samples, for a destination that must not receive them.
///
/// A device's manufacturer, model and versions are kept. Its given name and unique identifiers are removed, also from
/// HealthKit's metadata keys and from payloads of unknown kinds, which another program wrote.
public enum NameRedaction {
  /// The HealthKit metadata keys that hold names or serial numbers.
  static let metadataKeys: Set<String> = [
    "HKDeviceName", "HKDeviceSerialNumber", "HKUDIDeviceIdentifier", "HKUDIProductionIdentifier",
    "HKDigitalSignature", "HKExternalUUID",
  ]

  /// The JSON members that name a source or a device in payloads of unknown kinds, as Health Auto Export, P247 and
  /// Apple's export write them.
  static let payloadMembers: Set<String> = ["source", "sourceName", "device", "deviceName"]

  /// Returns a sample without the names.
  public static func applied(to sample: Sample) -> Sample {
    var sample = sample
    sample.source = redacted(sample.source)
    sample.device = sample.device.map(redacted)
    for key in metadataKeys { sample.metadata[key] = nil }
    sample.payload = redacted(sample.payload)
    return sample
  }

  /// Returns changes without the names.
  ///
  /// - Throws: `DecodingError` if the store is damaged.
  static func applied(to changes: CodedChanges) throws -> CodedChanges {
    var changes = changes
    let sources = merged(changes.sources.map(redacted))
    let devices = merged(changes.devices.map(redacted))
    var metadata: [String] = []
    var places: [UInt32?] = []
    for text in changes.metadata {
      let redacted = try redacted(text)
      places.append(redacted == nil ? nil : UInt32(metadata.count))
      if let redacted { metadata.append(redacted) }
    }
    (changes.sources, changes.devices, changes.metadata) = (sources.values, devices.values, metadata)
    for index in changes.samples.indices {
      changes.samples[index].source = sources.places[Int(changes.samples[index].source)]
      changes.samples[index].device = changes.samples[index].device.map { devices.places[Int($0)] }
      changes.samples[index].metadata = changes.samples[index].metadata.flatMap { places[Int($0)] }
    }
    for sample in changes.samples {
      let kind = changes.kinds[Int(sample.kind)]
      guard let place = sample.payload.map(Int.init), !Payload.isKnown(kind: kind) else { continue }
      let payload = try Payload(kind: kind, number: nil, unit: nil, json: changes.payloads[place])
      changes.payloads[place] = try CodedPayload(redacted(payload)).json ?? ""
    }
    for index in changes.tombstones.indices {
      changes.tombstones[index].source = changes.tombstones[index].source.map { sources.places[Int($0)] }
    }
    return changes
  }

  private static func redacted(_ source: Source) -> Source { Source(name: "", version: source.version) }

  private static func redacted(_ device: Device) -> Device {
    var device = device
    (device.name, device.localIdentifier, device.udiDeviceIdentifier, device.text) = (nil, nil, nil, nil)
    return device
  }

  private static func redacted(_ payload: Payload) -> Payload {
    guard case .unknown(let kind, let content) = payload else { return payload }
    return .unknown(kind: kind, content: redacted(content))
  }

  private static func redacted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members): .object(members.filter { !payloadMembers.contains($0.key) }.mapValues(redacted))
    case .array(let elements): .array(elements.map(redacted))
    default: value
    }
  }

  /// Returns metadata without the keys above, or `nil` if nothing is left.
  private static func redacted(_ text: String) throws -> String? {
    guard metadataKeys.contains(where: text.contains) else { return text }
    var metadata = try JSONDecoder().decode(Metadata.self, from: Data(text.utf8))
    for key in metadataKeys { metadata[key] = nil }
    return metadata.isEmpty ? nil : MetadataText.encode(metadata)
  }

  /// Removes duplicates, and returns the new index of each old value.
  private static func merged<Value: Hashable>(_ values: [Value]) -> (values: [Value], places: [UInt32]) {
    var merged: [Value] = []
    var places: [Value: UInt32] = [:]
    let indices = values.map { value in
      if let place = places[value] { return place }
      let place = UInt32(merged.count)
      places[value] = place
      merged.append(value)
      return place
    }
    return (merged, indices)
  }
}
