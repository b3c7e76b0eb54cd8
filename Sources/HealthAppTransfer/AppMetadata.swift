import HealthModel

/// Metadata in the app's format: a JSON object in a string, with dates as text.
enum AppMetadata {
  /// The prefix of metadata keys for the values of a correlation whose members are unknown.
  private static let correlation = "hpeer.correlation."

  /// Returns the metadata as text, or `nil` if there are none.
  ///
  /// - Parameter isCorrelation: whether to leave out values of a correlation, which have a field of their own.
  static func text(of metadata: Metadata, isCorrelation: Bool) -> String? {
    if metadata.isEmpty { return nil }
    var entries = Array(metadata)
    if isCorrelation { entries.removeAll { $0.key.hasPrefix(correlation) } }
    if entries.isEmpty { return nil }
    entries.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    // Same output as CanonicalJSON, but faster.
    var bytes: [UInt8] = []
    for (index, (key, value)) in entries.enumerated() {
      bytes.append(index == 0 ? "{" : ",")
      bytes.append(quoted: key)
      bytes.append(":")
      switch value {
      case .string(let text): bytes.append(quoted: text)
      case .integer(let integer): integer.append(to: &bytes)
      case .number(let number) where number.isFinite: bytes.append(number: number)
      case .number(let number): bytes.append(quoted: "\(number)")
      case .bool(let flag): bytes.append(flag ? "true" : "false")
      case .date(let date): bytes.append(quoted: Timestamp(seconds: date.seconds).iso8601)
      }
    }
    bytes.append("}")
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the metadata, empty if the text is not an object. Values of types that the app does not write are kept
  /// as JSON text.
  static func metadata(_ text: String) -> Metadata {
    guard JSONBudget.metadata.verdict(on: text) == .fits,
      let object = try? CanonicalJSON.decode([String: JSONValue].self, text)
    else { return [:] }
    return object.compactMapValues { value in
      switch value {
      case .string(let text): .string(text)
      case .integer(let integer): .integer(integer)
      case .number(let number): .number(number)
      case .bool(let flag): .bool(flag)
      case .null: nil
      case .array, .object: (try? CanonicalJSON.encode(value)).map(MetadataValue.string)
      }
    }
  }

  static func correlationValues(in metadata: Metadata) -> [String: Double] {
    var values: [String: Double] = [:]
    for (key, value) in metadata where key.hasPrefix(correlation) {
      let name = String(key.dropFirst(correlation.count))
      if case .number(let number) = value, number.isFinite { values[name] = number }
    }
    return values
  }

  static func metadata(ofCorrelation values: [String: Double]) -> Metadata {
    Metadata(values.map { (correlation + $0.key, .number($0.value)) }) { first, _ in first }
  }
}
