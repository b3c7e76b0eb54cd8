import Foundation
import HealthModel

@testable import HealthFormats

/// Fuzz targets for the texts of attributes: dates, numbers, devices and units.
extension FuzzTarget {
  @Sendable static func exportFields(_ input: [UInt8]) {
    let text = text(input)
    number(text)
    date(text)
    instant(text)
    if let device = DeviceText.parse(text) { requireRoundTrip(device) }
    text.withBytes { bytes in
      require(DeviceText.withoutAddress(bytes).count <= bytes.count, "a part")
      var defects: TextDefects = []
      let decoded = XMLText.decode(bytes, defects: &defects)
      require(decoded.utf8.count <= 3 * input.count, "decoding does not blow up")
    }
    let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
    if parts.count == 2, let there = UnitConversion.convert(1, from: parts[0], to: parts[1]) {
      require(
        UnitConversion.convert(1, from: parts[1], to: parts[0]) != nil, "units convert both ways: \(parts), \(there)")
    }
    let category = CategoryValueNames.healthKit.value(
      exported: text, type: SampleType("HKCategoryTypeIdentifierSleepAnalysis"))
    requireRoundTrip(category)
    _ = WorkoutActivityType(exported: text).exported
  }

  /// Checks the number reader against `strtod` for values and against ``isNumber(_:)`` for syntax.
  private static func number(_ text: String) {
    let reading = DecimalReader.read(text)
    guard !text.utf8.contains(0) else { return require(reading == nil, "NUL is in no number") }
    let expected = strtod(text.replacing(",", with: "."), nil)
    if let reading {
      require(isNumber(text), "'\(text)' is no number")
      require(reading.value.bitPattern == expected.bitPattern, "'\(text)' is \(expected), not \(reading.value)")
    } else if isNumber(text) {
      require(!expected.isFinite, "'\(text)' is a number")
    }
  }

  /// Returns whether a text matches `[+-]digits[.digits][e[+-]digits]`, with up to four digits in the exponent, and
  /// digits on at least one side of the point, which may be a comma.
  private static func isNumber(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    func takeDigits() -> Int {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      rest = rest.dropFirst(digits.count)
      return digits.count
    }
    func take(_ characters: String) -> Bool {
      guard let first = rest.first, characters.utf8.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    _ = take("+-")
    var digits = takeDigits()
    if take(".,") { digits += takeDigits() }
    guard digits > 0 else { return false }
    if rest.isEmpty { return true }
    guard take("eE") else { return false }
    _ = take("+-")
    return (1...4).contains(takeDigits()) && rest.isEmpty
  }

  private static func date(_ text: String) {
    var reader = DateReader()
    let first = reader.read(text)
    let again = reader.read(text)
    require(first?.date == again?.date, "the cache changes nothing: '\(text)'")
    // Warmed up with another date, the answer is the same.
    var other = DateReader()
    _ = other.read("2024-06-15 10:30:00 +0200")
    require(other.read(text)?.date == first?.date, "nor does an earlier date: '\(text)'")
    if let date = first?.date { require(reader.read(date.iso8601)?.date == date, "'\(text)' as \(date.iso8601)") }
  }

  private static func instant(_ text: String) {
    guard let instant = Timestamp(iso8601: text) else { return }
    require(Timestamp(iso8601: instant.iso8601) == instant, "'\(text)' as \(instant.iso8601)")
    let civil = instant.civil
    let same = Timestamp(
      year: civil.year, month: civil.month, day: civil.day, hour: civil.hour, minute: civil.minute,
      second: civil.second, microsecond: civil.microsecond)
    require(same == instant, "'\(text)' by its fields")
  }
}
