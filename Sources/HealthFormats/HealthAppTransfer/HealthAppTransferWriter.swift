import Foundation
import HealthAppTransfer
import HealthModel

/// Writes files of the app HealthAppTransfer in a form that its Mac app imports completely. That app refuses a whole
/// JSON file if one sample has an unknown type, and a whole table if the header differs.
///
/// ```swift
/// func write(_ samples: [Sample]) -> [UInt8] {
///   var writer = HealthAppTransferWriter(.json2, exported: Timestamp(seconds: 1_718_447_400))
///   var bytes: [UInt8] = []
///   writer.begin(into: &bytes)
///   for sample in samples where !writer.append(sample, members: [], to: &bytes) { print("no place for", sample.type) }
///   writer.end(into: &bytes)
///   return bytes
/// }
/// ```
public struct HealthAppTransferWriter: SelectiveFileWriter {
  /// The app's form of samples.
  public enum Form: Sendable, CaseIterable {
    /// Version 1, an array of samples.
    case json1
    /// Version 2, samples by type and a description of the file.
    case json2
    case csv
  }

  private let form: Form
  private let exported: Timestamp
  /// The requested range of dates, stated in files of version 2.
  private let range: (start: Timestamp?, end: Timestamp?)
  private let defusesFormulas: Bool
  private var count = 0
  /// The types written, in order of their first sample.
  private var types: [String] = []
  /// The time from the earliest start to the latest end of the samples.
  private var extent: (start: Timestamp, end: Timestamp)?

  /// - Parameters:
  ///   - exported: the export time stated in files of version 2.
  ///   - range: the requested range, stated in files of version 2. A missing date is replaced by that of the samples.
  ///   - defusesFormulas: whether to put an apostrophe before a text that a spreadsheet would take for a formula.
  public init(
    _ form: Form, exported: Timestamp, range: (start: Timestamp?, end: Timestamp?) = (nil, nil),
    defusesFormulas: Bool = false
  ) {
    (self.form, self.exported, self.range, self.defusesFormulas) = (form, exported, range, defusesFormulas)
  }

  public mutating func begin(into bytes: inout [UInt8]) {
    switch form {
    case .json1: bytes.append("[")
    case .json2: bytes.append("{\"data\":{")
    case .csv:
      bytes.append(contentsOf: HealthSampleDTO.Member.allCases.map(\.rawValue).joined(separator: ",").utf8)
      bytes.append("\n")
    }
  }

  public mutating func append(_ sample: Sample, members: [Sample], to bytes: inout [UInt8]) -> Bool {
    guard let row = HealthSampleDTO(sample, members: members, dates: .iso8601), row.hasDates,
      row.correlationValues?.isEmpty != true
    else { return false }
    switch form {
    case .json1:
      bytes.append(count == 0 ? "\n" : ",\n")
      row.append(to: &bytes)
    case .json2:
      if types.last == row.type {
        bytes.append(",\n")
      } else {
        bytes.append(types.isEmpty ? "\n" : "\n],\n")
        bytes.append(quoted: row.type)
        bytes.append(":[\n")
        types.append(row.type)
      }
      row.append(to: &bytes)
      let known = extent ?? (row.start, row.end)
      extent = (min(known.start, row.start), max(known.end, row.end))
    case .csv: row.writeRow(to: &bytes, defusesFormulas: defusesFormulas)
    }
    count += 1
    return true
  }

  public mutating func end(into bytes: inout [UInt8]) {
    switch form {
    case .json1: bytes.append(count == 0 ? "]\n" : "\n]\n")
    case .json2:
      bytes.append(types.isEmpty ? "},\"metadata\":{" : "\n]},\n\"metadata\":{")
      if let start = range.start ?? extent?.start, let end = range.end ?? extent?.end {
        bytes.append("\"dateRange\":{\"end\":")
        bytes.append(quoted: end.wholeSecond)
        bytes.append(",\"start\":")
        bytes.append(quoted: start.wholeSecond)
        bytes.append("},")
      }
      bytes.append("\"exportDate\":")
      bytes.append(quoted: exported.wholeSecond)
      bytes.append(",\"formatVersion\":\"2.0\",\"sampleCount\":")
      Int64(count).append(to: &bytes)
      bytes.append(",\"types\":[")
      for (index, type) in types.sorted().enumerated() {
        if index > 0 { bytes.append(",") }
        bytes.append(quoted: type)
      }
      bytes.append("]}}\n")
    case .csv: break
    }
  }
}

extension HealthSampleDTO {
  /// Whether both dates are in the years 1 to 9999, which the app's dates can express.
  fileprivate var hasDates: Bool {
    let years = Timestamp(seconds: -62_135_596_800)..<Timestamp(seconds: 253_402_300_799)
    return years.contains(start) && years.contains(end)
  }

  /// Appends a CSV row. Dates have milliseconds, because the app silently skips rows without them. Line ends become
  /// spaces, because the app splits lines before it parses quotes.
  fileprivate func writeRow(to bytes: inout [UInt8], defusesFormulas: Bool) {
    for member in Member.allCases {
      if member != .id { bytes.append(",") }
      switch member {
      case .id: bytes.append(contentsOf: id.utf8)
      case .type: bytes.append(contentsOf: type.utf8)
      case .startDate: start.append(milliseconds: &bytes)
      case .endDate: end.append(milliseconds: &bytes)
      case .sourceName: Self.append(field: sourceName, defusesFormulas, to: &bytes)
      case .sourceBundleIdentifier: Self.append(field: sourceBundleIdentifier, defusesFormulas, to: &bytes)
      case .value: Self.append(value, to: &bytes)
      case .unit: Self.append(field: unit, defusesFormulas, to: &bytes)
      case .categoryValue: categoryValue?.append(to: &bytes)
      case .workoutActivityType: if let workoutActivityType { bytes.append(contentsOf: "\(workoutActivityType)".utf8) }
      case .workoutDuration: Self.append(workoutDuration, to: &bytes)
      case .workoutTotalEnergyBurned: Self.append(workoutTotalEnergyBurned, to: &bytes)
      case .workoutTotalDistance: Self.append(workoutTotalDistance, to: &bytes)
      case .correlationValues:
        let values = correlationValues?.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } ?? []
        bytes.append(contentsOf: values.joined(separator: ";").utf8)
      case .characteristicValue: break
      case .metadata: Self.append(field: metadataJSON, defusesFormulas, to: &bytes)
      }
    }
    bytes.append("\n")
  }

  private static func append(_ number: Double?, to bytes: inout [UInt8]) {
    if let number { SampleCSV.append(number, to: &bytes) }
  }

  /// The characters with which a spreadsheet formula begins (OWASP, CSV injection).
  private static let formula = Set("=+-@".utf8)

  private static func append(field text: String?, _ defusesFormulas: Bool, to bytes: inout [UInt8]) {
    guard let text else { return }
    let isPlain = text.utf8.allSatisfy { $0 > 0x22 && $0 != UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x21 }
    if isPlain, !defusesFormulas { return bytes.append(contentsOf: text.utf8) }
    var field = text.utf8.map { $0 == 0x0A || $0 == 0x0D ? UInt8(ascii: " ") : $0 }
    if defusesFormulas, let first = field.first, formula.contains(first) { field.insert(UInt8(ascii: "'"), at: 0) }
    guard field.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }) else {
      return bytes.append(contentsOf: field)
    }
    SampleCSVWriter.append(quoted: field, to: &bytes)
  }
}

extension Timestamp {
  /// The instant as `2024-06-15T10:30:00Z`, truncated to the second.
  fileprivate var wholeSecond: String { Timestamp(seconds: seconds).iso8601 }

  /// Appends the instant as `2024-06-15T10:30:00.987Z`, rounded to milliseconds.
  fileprivate func append(milliseconds bytes: inout [UInt8]) {
    // hasDates has ruled out instants at which this addition could overflow.
    let rounded = microseconds + 500
    let milliseconds = (rounded - (rounded % 1000 + 1000) % 1000) / 1000
    let rest = (milliseconds % 1000 + 1000) % 1000
    let second = Timestamp(seconds: (milliseconds - rest) / 1000)
    second.append(to: &bytes)
    // Replaces the final Z.
    bytes[bytes.count - 1] = UInt8(ascii: ".")
    for divisor in [100, 10, 1] as [Int64] { bytes.append(0x30 + UInt8(rest / divisor % 10)) }
    bytes.append("Z")
  }
}
