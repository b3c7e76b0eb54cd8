import HealthModel

extension HealthSampleDTO {
  /// Appends exactly the ``CanonicalJSON`` encoding, but much faster.
  package func append(to bytes: inout [UInt8]) {
    bytes.append("{")
    if let categoryValue {
      bytes.append("\"categoryValue\":")
      categoryValue.append(to: &bytes)
      bytes.append(",")
    }
    if let correlationValues {
      bytes.append("\"correlationValues\":{")
      let values = correlationValues.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      for (index, (name, value)) in values.enumerated() {
        if index > 0 { bytes.append(",") }
        bytes.append(quoted: name)
        bytes.append(":")
        bytes.append(number: value)
      }
      bytes.append("},")
    }
    bytes.append("\"endDate\":")
    append(end, to: &bytes)
    bytes.append(",\"id\":")
    bytes.append(quoted: id)
    Self.append(",\"metadataJSON\":", metadataJSON, to: &bytes)
    Self.append(",\"sourceBundleIdentifier\":", sourceBundleIdentifier, to: &bytes)
    Self.append(",\"sourceName\":", sourceName, to: &bytes)
    bytes.append(",\"startDate\":")
    append(start, to: &bytes)
    Self.append(",\"type\":", type, to: &bytes)
    Self.append(",\"unit\":", unit, to: &bytes)
    Self.append(",\"value\":", value, to: &bytes)
    if let workoutActivityType {
      bytes.append(",\"workoutActivityType\":")
      bytes.append(contentsOf: String(workoutActivityType).utf8)
    }
    Self.append(",\"workoutDuration\":", workoutDuration, to: &bytes)
    Self.append(",\"workoutTotalDistance\":", workoutTotalDistance, to: &bytes)
    Self.append(",\"workoutTotalEnergyBurned\":", workoutTotalEnergyBurned, to: &bytes)
    bytes.append("}")
  }

  private static func append(_ name: StaticString, _ text: String?, to bytes: inout [UInt8]) {
    guard let text else { return }
    bytes.append(name)
    bytes.append(quoted: text)
  }

  private static func append(_ name: StaticString, _ number: Double?, to bytes: inout [UInt8]) {
    guard let number else { return }
    bytes.append(name)
    bytes.append(number: number)
  }

  private func append(_ instant: Timestamp, to bytes: inout [UInt8]) {
    switch dates {
    case .iso8601:
      bytes.append("\"")
      Timestamp(seconds: instant.seconds).append(to: &bytes)
      bytes.append("\"")
    case .reference: bytes.append(number: Double(instant.microseconds) / 1_000_000 - 978_307_200)
    }
  }
}
