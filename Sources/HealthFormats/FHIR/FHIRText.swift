import Foundation
import HealthModel

/// FHIR's data types `string`, `code`, `uri` and `dateTime` (https://hl7.org/fhir/R4/datatypes.html).
enum FHIRText {
  /// What other exporters of HealthKit name Apple's identifiers by, too.
  static let appleSystem = "http://developer.apple.com/documentation/healthkit"
  /// Of types that are not Apple's.
  static let ownTypes = "urn:hpeer:fhir:types"
  /// Of parts of samples that no system has a code for.
  static let ownCodes = "urn:hpeer:fhir:codes"
  /// The extension with what FHIR has no place for (`docs/reference/formats/fhir`).
  static let sampleExtension = "urn:hpeer:fhir:sample"
  /// What names the person of a store.
  static let storeSystem = "urn:hpeer:fhir:store"
  /// How HealthKitToFhir names HealthKit's UUIDs, so that what it sent is found again.
  static let healthKitToFhir = "com.apple.health"
  static let loinc = "http://loinc.org"
  static let ucum = "http://unitsofmeasure.org"

  /// In characters: what a `string` may have.
  static let maximumString = 1 << 20

  /// As a `string`: without control characters, and `nil` where nothing is left to see.
  static func plain(_ text: String) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(10_000) {
      scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    let plain = String(scalars).trimmingCharacters(in: .whitespacesAndNewlines)
    return plain.isEmpty ? nil : plain
  }

  /// Not empty, and no white space but single blanks inside.
  static func isCode(_ text: String) -> Bool {
    var before: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      if scalar.properties.generalCategory == .control { return false }
      if scalar.properties.isWhitespace, scalar != " " || before == " " { return false }
      before = scalar
    }
    return before != " " && text.utf8.count <= 1_000
  }

  /// A scheme, a colon, and something without blanks after it.
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

  /// The years that a `dateTime` can say, in any zone.
  private static let years = Timestamp(seconds: -62_135_510_400)..<Timestamp(seconds: 253_402_214_400)

  static func canSay(_ instant: Timestamp) -> Bool { years.contains(instant) }

  /// With the offset of the zone; in UTC where there is no zone, or FHIR has no place for the offset.
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

  /// The zone that a source says that a sample was taken in.
  static func zone(of metadata: Metadata) -> TimeZone? {
    guard case .string(let name)? = metadata["HKTimeZone"], name.utf8.count <= 64,
      name.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "_+-/:".utf8.contains($0) })
    else { return nil }
    return TimeZone(identifier: name)
  }
}

extension [UInt8] {
  /// JSON, as a part of a text that is written in JSON itself.
  mutating func append(escaping json: some Sequence<UInt8>) {
    for byte in json {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { append(UInt8(ascii: "\\")) }
      append(byte)
    }
  }

  /// A UUID as FHIR's ids and URNs have it.
  mutating func append(lowercased uuid: UUID) {
    let start = count
    uuid.append(to: &self)
    for index in start..<count where self[index] >= 0x41 { self[index] |= 0x20 }
  }
}
