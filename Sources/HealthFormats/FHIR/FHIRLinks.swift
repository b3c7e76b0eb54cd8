import Foundation
import HealthModel

/// The form of references between observations (https://hl7.org/fhir/R4/references.html).
enum FHIRLinks: Sendable {
  /// References by address within a bundle.
  case bundle
  /// References by type and id.
  case paths
  /// References by identifier, which may point to an observation that does not exist yet.
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
  /// Appends the member `,"id":"…"`.
  mutating func append(id uuid: UUID) {
    append(",\"id\":\"")
    append(lowercased: uuid)
    append("\"")
  }
}
