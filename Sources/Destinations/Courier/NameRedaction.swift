import Foundation
import HealthModel

/// Takes the names of sources and devices out of samples for a destination that is not to have them.
///
/// What a device is (manufacturer, model, versions) stays; what people call it, and what it alone is called by, goes: also
/// from metadata, where HealthKit's keys hold it, and from payloads that are kept as another program has written them.
public enum NameRedaction {
  /// HealthKit's keys of names and serial numbers.
  static let metadataKeys: Set<String> = [
    "HKDeviceName", "HKDeviceSerialNumber", "HKUDIDeviceIdentifier", "HKUDIProductionIdentifier",
    "HKDigitalSignature", "HKExternalUUID",
  ]

  /// Members that name a source or a device in payloads of kinds that this version does not know: of what Health Auto Export
  /// and P247 send, and of elements of Apple's export.
  static let payloadMembers: Set<String> = ["source", "sourceName", "device", "deviceName"]

  /// The sample without them.
  public static func applied(to sample: Sample) -> Sample {
    var sample = sample
    sample.source = redacted(sample.source)
    sample.device = sample.device.map(redacted)
    for key in metadataKeys { sample.metadata[key] = nil }
    sample.payload = redacted(sample.payload)
    return sample
  }

  /// The changes without them.
  ///
  /// - Throws: `DecodingError` where the store is damaged.
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

  /// `nil` where nothing is left.
  private static func redacted(_ text: String) throws -> String? {
    guard metadataKeys.contains(where: text.contains) else { return text }
    var metadata = try JSONDecoder().decode(Metadata.self, from: Data(text.utf8))
    for key in metadataKeys { metadata[key] = nil }
    return metadata.isEmpty ? nil : MetadataText.encode(metadata)
  }

  /// Each once, as a dictionary has them, and where each of the old ones is now.
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
