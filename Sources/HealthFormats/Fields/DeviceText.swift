import HealthModel

/// Apple's description of a device: `<<HKDevice: 0x281a3c0f0>, name:Apple Watch, …, hardware:Watch6,2, software:9.4>`.
enum DeviceText {
  /// Returns the bytes after the memory address, which differs in every export and row and must not be compared.
  static func withoutAddress(_ bytes: Bytes) -> Bytes {
    guard bytes.hasPrefix("&lt;&lt;HKDevice: ") || bytes.hasPrefix("<<HKDevice: "),
      let comma = bytes.firstIndex(of: UInt8(ascii: ","))
    else { return bytes }
    return bytes.dropFirst(comma)
  }

  /// Parses a description, with or without its address. Returns `nil` if it states nothing.
  static func parse(_ text: String) -> Device? {
    var rest = Substring(text)
    let isDevice = rest.hasPrefix("<<HKDevice: ") || rest.hasPrefix(", ")
    guard isDevice else { return rest.isEmpty ? nil : Device(text: text) }
    if rest.hasPrefix("<<HKDevice: ") {
      guard let comma = rest.firstIndex(of: ",") else { return nil }
      rest = rest[comma...]
    }
    if rest.hasSuffix(">") { rest = rest.dropLast() }
    var device = Device()
    var texts: [Substring] = []
    for field in fields(of: rest) {
      if !assign(field, to: &device) { texts.append(field) }
    }
    if !texts.isEmpty { device.text = texts.joined(separator: ", ") }
    return device == Device() ? nil : device
  }

  private static let labels: [(String, WritableKeyPath<Device, String?> & Sendable)] = [
    ("name:", \.name), ("manufacturer:", \.manufacturer), ("model:", \.model), ("hardware:", \.hardwareVersion),
    ("firmware:", \.firmwareVersion), ("software:", \.softwareVersion), ("localIdentifier:", \.localIdentifier),
    ("UDI Device Identifier:", \.udiDeviceIdentifier),
  ]

  /// Splits a description at `, label:`. Other commas belong to values.
  private static func fields(of text: Substring) -> [Substring] {
    var starts: [Substring.Index] = []
    var index = text.startIndex
    while index < text.endIndex {
      let tail = text[index...]
      if tail.hasPrefix(", ") {
        let label = tail.dropFirst(2)
        if label.hasPrefix("creation date:") || labels.contains(where: { label.hasPrefix($0.0) }) {
          starts.append(index)
        }
      }
      index = text.index(after: index)
    }
    guard let first = starts.first else { return [text.hasPrefix(", ") ? text.dropFirst(2) : text] }
    var result = first > text.startIndex ? [text[..<first].drop { $0 == "," || $0 == " " }] : []
    for (start, end) in zip(starts, starts.dropFirst() + [text.endIndex]) {
      result.append(text[start..<end].dropFirst(2))
    }
    return result
  }

  private static func assign(_ field: Substring, to device: inout Device) -> Bool {
    for (label, path) in labels where field.hasPrefix(label) && device[keyPath: path] == nil {
      device[keyPath: path] = String(field.dropFirst(label.count))
      return true
    }
    return field.isEmpty
  }
}
