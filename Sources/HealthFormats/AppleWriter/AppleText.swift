import HealthModel

/// Values as Apple's export prints them.
struct AppleText {
  /// Seconds east of UTC: one for all dates of an export.
  let offset: Int

  /// `2024-06-15 10:30:00 +0200`, in whole seconds, rounded down.
  func date(_ instant: Timestamp) -> String {
    // Beyond what microseconds can hold, the offset is dropped.
    let (sum, overflow) = instant.microseconds.addingReportingOverflow(Int64(offset) * 1_000_000)
    let local = Timestamp(microseconds: overflow ? instant.microseconds : sum)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    Timestamp(seconds: local.seconds).append(to: &bytes)
    if let mark = bytes.lastIndex(of: UInt8(ascii: "T")) { bytes[mark] = UInt8(ascii: " ") }
    let zone = overflow ? 0 : abs(offset)
    bytes[bytes.count - 1] = UInt8(ascii: " ")
    bytes.append(offset < 0 && !overflow ? UInt8(ascii: "-") : UInt8(ascii: "+"))
    for part in [zone / 3600, zone % 3600 / 60] {
      if part < 10 { bytes.append(UInt8(ascii: "0")) }
      Int64(part).append(to: &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The shortest decimal text that gives the number back.
  func number(_ value: Double) -> String {
    if let integer = Int64(exactly: value), integer.magnitude < 1 << 53 { return String(integer) }
    return "\(value)"
  }

  func metadata(_ value: MetadataValue) -> String {
    switch value {
    case .string(let text): text
    case .integer(let integer): String(integer)
    case .number(let number): self.number(number)
    case .bool(let flag): flag ? "1" : "0"
    // Apple prints dates in metadata in UTC, whatever the offset of the others.
    case .date(let date): AppleText(offset: 0).date(date)
    }
  }

  /// `<<HKDevice: 0x0>, name:Apple Watch, …>`; the address, which differs in every row of Apple's, is nothing here.
  func device(_ device: Device) -> String? {
    let fields: [(String, String?)] = [
      ("name", device.name), ("manufacturer", device.manufacturer), ("model", device.model),
      ("hardware", device.hardwareVersion), ("firmware", device.firmwareVersion),
      ("software", device.softwareVersion), ("localIdentifier", device.localIdentifier),
      ("UDI Device Identifier", device.udiDeviceIdentifier),
    ]
    var texts = fields.compactMap { name, value in value.map { "\(name):\($0)" } }
    if let text = device.text {
      // A description that was none of Apple's stands alone.
      if texts.isEmpty, !text.hasPrefix("creation date:") { return text }
      texts.append(text)
    }
    return texts.isEmpty ? nil : "<<HKDevice: 0x0>, " + texts.joined(separator: ", ") + ">"
  }
}
