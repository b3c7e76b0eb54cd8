import HealthModel

/// The conversion of a sample's source and device to a single contained `Device`, with HealthKitToFhir's field names.
enum FHIRAgent {
  /// The code system of a device's version types.
  private static let versions = FHIRText.ownCodes
  private static let localIdentifier = "device.localIdentifier"

  /// Appends an object with a text whose type is one of hpeer's own codes.
  private static func append(_ text: String, coded code: String, to bytes: inout [UInt8]) {
    bytes.append("{\"type\":{\"coding\":[")
    bytes.append(coding: FHIRText.ownCodes, code, display: nil)
    bytes.append("]},\"value\":")
    bytes.append(quoted: text)
    bytes.append("}")
  }

  /// Appends the `Device` as JSON. Texts that FHIR cannot express, such as an empty name, are left out.
  static func append(_ source: Source, _ device: Device?, to bytes: inout [UInt8]) {
    bytes.append("{\"resourceType\":\"Device\",\"id\":\"device\"")
    list("identifier", to: &bytes) { list in
      list.add(source.bundleIdentifier) { text, bytes in
        bytes.append("{\"system\":\"com.apple.health\",\"value\":")
        bytes.append(quoted: text)
        bytes.append("}")
      }
      list.add(device?.localIdentifier) { text, bytes in append(text, coded: localIdentifier, to: &bytes) }
    }
    list("udiCarrier", to: &bytes) { list in
      list.add(device?.udiDeviceIdentifier) { text, bytes in
        bytes.append("{\"deviceIdentifier\":")
        bytes.append(quoted: text)
        bytes.append(",\"entryType\":\"self-reported\"}")
      }
    }
    member("manufacturer", device?.manufacturer, to: &bytes)
    list("deviceName", to: &bytes) { list in
      for (name, type) in [(source.name, "user-friendly-name"), (device?.name, "model-name")] {
        list.add(name) { text, bytes in
          bytes.append("{\"name\":")
          bytes.append(quoted: text)
          bytes.append(",\"type\":")
          bytes.append(quoted: type)
          bytes.append("}")
        }
      }
    }
    member("modelNumber", device?.model, to: &bytes)
    list("version", to: &bytes) { list in
      for (code, text) in versionTexts(source, device) {
        list.add(text) { text, bytes in append(text, coded: code, to: &bytes) }
      }
    }
    list("note", to: &bytes) { list in
      list.add(device?.text) { text, bytes in
        bytes.append("{\"text\":")
        bytes.append(quoted: text)
        bytes.append("}")
      }
    }
    bytes.append("}")
  }

  private static func versionTexts(_ source: Source, _ device: Device?) -> [(String, String?)] {
    [
      ("sourceRevision.version", source.version), ("device.hardwareVersion", device?.hardwareVersion),
      ("device.firmwareVersion", device?.firmwareVersion), ("device.softwareVersion", device?.softwareVersion),
    ]
  }

  // MARK: Reading

  /// Returns the source and the device of a resource that ``append(_:_:to:)`` wrote, as far as FHIR expresses them.
  static func read(_ resource: JSONValue) -> (source: Source, device: Device?) {
    func texts(_ list: String, _ field: String, where matches: (JSONValue) -> Bool) -> String? {
      resource[list]?.elements.first(where: matches)?[field]?.text
    }
    func named(_ type: String) -> String? { texts("deviceName", "name") { $0["type"]?.text == type } }
    func version(_ code: String) -> String? { texts("version", "value") { Self.code(of: $0) == code } }
    let source = Source(
      name: named("user-friendly-name") ?? "",
      bundleIdentifier: texts("identifier", "value") { $0["system"]?.text == FHIRText.healthKitToFhir },
      version: version("sourceRevision.version"))
    let device = Device(
      name: named("model-name"), manufacturer: resource["manufacturer"]?.text, model: resource["modelNumber"]?.text,
      hardwareVersion: version("device.hardwareVersion"), firmwareVersion: version("device.firmwareVersion"),
      softwareVersion: version("device.softwareVersion"),
      localIdentifier: texts("identifier", "value") { Self.code(of: $0) == localIdentifier },
      udiDeviceIdentifier: texts("udiCarrier", "deviceIdentifier") { _ in true },
      text: texts("note", "text") { _ in true })
    return (source, device == Device() ? nil : device)
  }

  private static func code(of element: JSONValue) -> String? {
    element["type"]?["coding"]?.elements.first { $0["system"]?.text == versions }?["code"]?.text
  }

  // MARK: Writing

  private struct List {
    var bytes: [UInt8] = []

    /// Appends a text, or nothing if FHIR cannot express it.
    mutating func add(_ text: String?, _ write: (String, inout [UInt8]) -> Void) {
      guard let text = text.flatMap(FHIRText.plain) else { return }
      if !bytes.isEmpty { bytes.append(",") }
      write(text, &bytes)
    }
  }

  private static func list(_ name: String, to bytes: inout [UInt8], _ fill: (inout List) -> Void) {
    var list = List()
    fill(&list)
    if list.bytes.isEmpty { return }
    bytes.append(",")
    bytes.append(quoted: name)
    bytes.append(":[")
    bytes.append(contentsOf: list.bytes)
    bytes.append("]")
  }

  private static func member(_ name: String, _ text: String?, to bytes: inout [UInt8]) {
    guard let text = text.flatMap(FHIRText.plain) else { return }
    bytes.append(",")
    bytes.append(quoted: name)
    bytes.append(":")
    bytes.append(quoted: text)
  }
}
