import HealthModel
import Testing

@testable import HealthFormats

@Suite struct FieldTests {
  @Test(arguments: [
    ("72", 72.0), ("0", 0), ("-0.5", -0.5), ("+3", 3), ("9.94194e-05", 9.94194e-05), ("1e22", 1e22), ("1E-22", 1e-22),
    ("1e300", 1e300), ("0.1", 0.1), ("123456789012345", 123_456_789_012_345),
    ("1234567890123456789", 1.2345678901234568e18),
    ("29.834950482845306", 29.834950482845306), ("4.9e-324", Double.leastNonzeroMagnitude), (".5", 0.5), ("5.", 5),
    ("72,5", 72.5),
    ("0.000000000000000000000000000001", 1e-30), ("100000000000000000000000000000000", 1e32),
    ("179.76931348623157e306", 1.7976931348623157e308),
  ])
  func numbersAreExact(text: String, value: Double) {
    #expect(DecimalReader.read(text)?.value == value)
    if !text.contains(",") { #expect(DecimalReader.read(text)?.value == Double(text)) }
  }

  @Test func shortNumbersAgreeWithTheStandardLibrary() {
    var generator = SeededGenerator(7)
    for _ in 0..<20_000 {
      let text =
        "\(Int.random(in: -999_999...999_999, using: &generator)).\(Int.random(in: 0...99_999_999, using: &generator))"
        + (Bool.random(using: &generator) ? "" : "e\(Int.random(in: -30...30, using: &generator))")
      #expect(DecimalReader.read(text)?.value == Double(text), "\(text)")
    }
  }

  @Test(arguments: [
    "", "-", ".", "1.2.3", "1,234.5", "nan", "inf", "0x1A", "1e", "1e+", "1e99999", "1e400", " 1", "1 ", "12a", "😴",
  ])
  func whatIsNoNumberIsNone(text: String) {
    #expect(DecimalReader.read(text) == nil)
  }

  @Test(arguments: [
    ("2024-06-15 10:00:00 +0200", "2024-06-15T08:00:00Z", true),
    ("2024-06-15 08:00:00 -0130", "2024-06-15T09:30:00Z", true),
    ("2024-06-15 08:00:00", "2024-06-15T08:00:00Z", false), ("2024-06-15T08:00:00Z", "2024-06-15T08:00:00Z", true),
    ("2024-06-15T10:00:00.5+02:00", "2024-06-15T08:00:00.5Z", true), ("20240615080000Z", "2024-06-15T08:00:00Z", true),
    ("20240615100000 +0200", "2024-06-15T08:00:00Z", true), ("20240615080000", "2024-06-15T08:00:00Z", false),
    ("2024-06-15", "2024-06-15T00:00:00Z", false), ("  2024-06-15 10:00:00 +0200 ", "2024-06-15T08:00:00Z", true),
    ("2024-02-29 00:00:00 +0000", "2024-02-29T00:00:00Z", true),
  ])
  func datesAreRead(text: String, expected: String, hasOffset: Bool) {
    var reader = DateReader()
    let reading = reader.read(text)
    #expect(reading?.date == Timestamp(iso8601: expected))
    #expect(reading?.hasOffset == hasOffset)
  }

  @Test(arguments: [
    "", "x", "2024-06-15 10:00:00 +02000", "2024-02-30 10:00:00 +0200", "2024-06-15 24:00:00 +0200",
    "2024-06-15 10:60:00 +0200",
    "2024-06-15 10:00:61 +0200", "2024/06/15 10:00:00 +0200", "2024-06-15 10:00:00 *0200", "2024-06-15 10:00:00 +2400",
    "2024-06-15 1x:00:00 +0200", "20241315080000Z", "0000-00-00 00:00:00 +0000",
  ])
  func otherTextIsNoDate(text: String) {
    var reader = DateReader()
    #expect(reader.read(text) == nil)
    // The day that is kept from the last date must not help a bad one.
    _ = reader.read("2024-06-15 10:00:00 +0200")
    #expect(reader.read(text) == nil)
  }

  @Test func aKeptDayIsNotTakenForAnother() {
    var reader = DateReader()
    #expect(reader.read("2024-06-15 10:00:00 +0200")?.date == Timestamp(iso8601: "2024-06-15T08:00:00Z"))
    #expect(reader.read("2024-06-16 10:00:00 +0200")?.date == Timestamp(iso8601: "2024-06-16T08:00:00Z"))
    #expect(reader.read("2024-06-16 10:00:00 +0100")?.date == Timestamp(iso8601: "2024-06-16T09:00:00Z"))
    #expect(reader.read("2025-06-16 10:00:00 +0100")?.date == Timestamp(iso8601: "2025-06-16T09:00:00Z"))
    #expect(reader.offset == 3600)
  }

  @Test func devicesAreDividedIntoTheirFields() {
    #expect(
      DeviceText.parse(
        "<<HKDevice: 0x1>, name:Scale, with comma, manufacturer:A, B & C, model:M, hardware:H1,2, firmware:F"
          + ", software:S, localIdentifier:L, UDI Device Identifier:U>")
        == Device(
          name: "Scale, with comma", manufacturer: "A, B & C", model: "M", hardwareVersion: "H1,2",
          firmwareVersion: "F",
          softwareVersion: "S", localIdentifier: "L", udiDeviceIdentifier: "U"))
    #expect(
      DeviceText.parse("<<HKDevice: 0x1>, name:W, software:9.4, creation date:2018-10-07 13:20:52 +0000>")
        == Device(name: "W", softwareVersion: "9.4", text: "creation date:2018-10-07 13:20:52 +0000"))
    #expect(DeviceText.parse("Some Watch") == Device(text: "Some Watch"))
    #expect(DeviceText.parse("<<HKDevice: 0x1>, strange>") == Device(text: "strange"))
    #expect(DeviceText.parse("<<HKDevice: 0x1>, strange, name:W>") == Device(name: "W", text: "strange"))
    #expect(DeviceText.parse("<<HKDevice: 0x1>, name:A, name:B>") == Device(name: "A", text: "name:B"))
    #expect(DeviceText.parse("<<HKDevice: 0x1>>") == nil)
    #expect(DeviceText.parse("") == nil)
  }
}

/// A SplitMix64 generator, which returns the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
