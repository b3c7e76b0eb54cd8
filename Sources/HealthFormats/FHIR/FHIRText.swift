import Foundation
import HealthModel

/// Helpers for FHIR's data types `string`, `code`, `uri` and `dateTime` (https://hl7.org/fhir/R4/datatypes.html).
enum FHIRText {
  /// The code system of Apple's identifiers, which other HealthKit exporters use too.
  static let appleSystem = "http://developer.apple.com/documentation/healthkit"
  /// The code system of types that are not Apple's.
  static let ownTypes = "urn:hpeer:fhir:types"
  /// The code system of parts of samples for which no other system has a code.
  static let ownCodes = "urn:hpeer:fhir:codes"
  /// The URL of the extension for data that FHIR cannot express (`docs/reference/formats/fhir`).
  static let sampleExtension = "urn:hpeer:fhir:sample"
  /// The identifier system of a store's person.
  static let storeSystem = "urn:hpeer:fhir:store"
  /// HealthKitToFhir's identifier system for HealthKit UUIDs, so that its observations can be matched.
  static let healthKitToFhir = "com.apple.health"
  static let loinc = "http://loinc.org"
  static let ucum = "http://unitsofmeasure.org"

  /// The maximum length of a `string` in characters.
  static let maximumString = 1 << 20

  /// Returns a text as a `string` without control characters, or `nil` if nothing visible remains.
  static func plain(_ text: String) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(10_000) {
      scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    let plain = String(scalars).trimmingCharacters(in: .whitespacesAndNewlines)
    return plain.isEmpty ? nil : plain
  }

  /// Returns whether a text is a `code`: not empty, and without white space except single spaces inside.
  static func isCode(_ text: String) -> Bool {
    var before: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      if scalar.properties.generalCategory == .control { return false }
      if scalar.properties.isWhitespace, scalar != " " || before == " " { return false }
      before = scalar
    }
    return before != " " && text.utf8.count <= 1_000
  }

  /// Returns whether a text is an absolute URI: a scheme, a colon, and text without spaces.
  static func isAbsoluteURI(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
    guard parts.count == 2, text.utf8.count <= 1_000, let first = parts[0].first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#"<>"\^`{|}"#.utf8.contains($0) }
      && parts[0].allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
  }

  // MARK: Dates

  /// The instants that a `dateTime` can express in any time zone.
  private static let years = Timestamp(seconds: -62_135_510_400)..<Timestamp(seconds: 253_402_214_400)

  static func canSay(_ instant: Timestamp) -> Bool { years.contains(instant) }

  /// Appends an instant with the zone's UTC offset, or in UTC if there is no zone or FHIR does not allow the offset.
  ///
  /// - Precondition: ``canSay(_:)``.
  static func append(_ instant: Timestamp, in zone: TimeZone?, to bytes: inout [UInt8]) {
    if let zone {
      let text = instant.iso8601(in: zone)
      if text.utf8.last == UInt8(ascii: "Z") || text.suffix(5) <= "14:00" {
        bytes.append(contentsOf: text.utf8)
        return
      }
    }
    instant.append(to: &bytes)
  }

  /// Returns the time zone in which a sample was taken, according to its metadata.
  static func zone(of metadata: Metadata) -> TimeZone? {
    guard case .string(let name)? = metadata["HKTimeZone"], name.utf8.count <= 64,
      name.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "_+-/:".utf8.contains($0) })
    else { return nil }
    return TimeZone(identifier: name)
  }
}

extension [UInt8] {
  /// Appends JSON, escaped for a JSON string that contains it.
  mutating func append(escaping json: some Sequence<UInt8>) {
    for byte in json {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { append(UInt8(ascii: "\\")) }
      append(byte)
    }
  }

  /// Appends a UUID in lowercase, as FHIR's ids and URNs require.
  mutating func append(lowercased uuid: UUID) {
    let start = count
    uuid.append(to: &self)
    for index in start..<count where self[index] >= 0x41 { self[index] |= 0x20 }
  }
}
