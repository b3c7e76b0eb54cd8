import Foundation
import HealthModel

/// How an observation names another (https://hl7.org/fhir/R4/references.html).
enum FHIRLinks: Sendable {
  /// By the address that it has in a bundle.
  case bundle
  /// By its type and its id.
  case paths
  /// By its identifier, which also names one that is not there yet.
  case identifiers

  /// Appends a `Reference`.
  func append(observation uuid: UUID, to bytes: inout [UInt8]) {
    switch self {
    case .bundle: bytes.append("{\"reference\":\"urn:uuid:")
    case .paths: bytes.append("{\"reference\":\"Observation/")
    case .identifiers:
      bytes.append("{\"type\":\"Observation\",\"identifier\":{\"system\":\"urn:ietf:rfc:3986\",\"value\":\"urn:uuid:")
    }
    bytes.append(lowercased: uuid)
    bytes.append(self == .identifiers ? "\"}}" : "\"}")
  }
}

extension [UInt8] {
  /// `,"id":"…"`.
  mutating func append(id uuid: UUID) {
    append(",\"id\":\"")
    append(lowercased: uuid)
    append("\"")
  }
}
