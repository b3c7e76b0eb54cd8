import Foundation
import HealthModel

/// A formatter for values as Apple's export prints them.
struct AppleText {
  /// The UTC offset of all dates in the export, in seconds east.
  let offset: Int

  /// Returns a date such as `2024-06-15 10:30:00 +0200`, rounded down to whole seconds.
  func date(_ instant: Timestamp) -> String {
    // If the sum overflows, print the date in UTC.
    let (sum, overflow) = instant.microseconds.addingReportingOverflow(Int64(offset) * 1_000_000)
    let local = Timestamp(microseconds: overflow ? instant.microseconds : sum)
    let zone = overflow ? 0 : abs(offset)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    Timestamp(seconds: local.seconds).append(to: &bytes)
    // Replace `T` and `Z`.
    bytes[bytes.count - "T10:30:00Z".utf8.count] = UInt8(ascii: " ")
    bytes[bytes.count - 1] = UInt8(ascii: " ")
    bytes.append(UInt8(ascii: offset < 0 && !overflow ? "-" : "+"))
    for number in [zone / 3600, zone % 3600 / 60] {
      bytes.append(0x30 + UInt8(number / 10))
      bytes.append(0x30 + UInt8(number % 10))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the shortest decimal text that is read back as the same number.
  func number(_ value: Double) -> String {
    if let integer = Int64(exactly: value), integer.magnitude < 1 << 53 { return String(integer) }
    return "\(value)"
  }

  /// The same without an exponent, as XML Schema's `decimal` wants it (XML Schema Part 2, section 3.2.3); nil for a number of more
  /// digits than any measurement has.
  func decimal(_ value: Double) -> String? {
    let text = number(value)
    guard text.contains("e") else { return text }
    guard abs(value) < 1e30, let decimal = Decimal(string: text) else { return nil }
    return decimal.description
  }

  func metadata(_ value: MetadataValue) -> String {
    switch value {
    case .string(let text): text
    case .integer(let integer): String(integer)
    case .number(let number): self.number(number)
    case .bool(let flag): flag ? "1" : "0"
    // Apple prints dates in metadata in UTC, whatever the offset of other dates.
    case .date(let date): AppleText(offset: 0).date(date)
    }
  }

  /// Returns a text such as `<<HKDevice: 0x0>, name:Apple Watch, …>`. The memory address, which differs in every row
  /// of Apple's, is always 0.
  func device(_ device: Device) -> String? {
    let fields: [(String, String?)] = [
      ("name", device.name), ("manufacturer", device.manufacturer), ("model", device.model),
      ("hardware", device.hardwareVersion), ("firmware", device.firmwareVersion),
      ("software", device.softwareVersion), ("localIdentifier", device.localIdentifier),
      ("UDI Device Identifier", device.udiDeviceIdentifier),
    ]
    var texts = fields.compactMap { name, value in value.map { "\(name):\($0)" } }
    if let text = device.text {
      // A description that does not have Apple's form is printed alone.
      if texts.isEmpty, !text.hasPrefix("creation date:") { return text }
      texts.append(text)
    }
    return texts.isEmpty ? nil : "<<HKDevice: 0x0>, " + texts.joined(separator: ", ") + ">"
  }
}
