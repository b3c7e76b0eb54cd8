/// The CSV table of samples (`docs/reference/formats/csv.md`): RFC 4180 in UTF-8 with a header and one row for each
/// sample. An absent text is an empty field; an empty text is `""`.
enum SampleCSV {
  enum Column: String, CaseIterable {
    case uuid, type, start, end, created, value, unit, category
    /// The name of the category's integer, for people. Readers ignore it.
    case categoryName
    case sourceName, sourceBundle, sourceVersion, device, metadata, payloadKind, payload
  }

  /// The columns that identify a table of samples; all are required.
  static let required: [Column] = [.uuid, .type, .start, .end, .sourceName, .payloadKind]

  /// Returns a number in the table's spelling: text that `Double` reads back exactly, or `nan`, `inf` or `-inf`.
  static func text(of number: Double) -> String {
    number.isFinite ? "\(number)" : number.isNaN ? "nan" : number < 0 ? "-inf" : "inf"
  }

  /// Appends ``text(of:)``, mostly without creating a `String`.
  static func append(_ number: Double, to bytes: inout [UInt8]) {
    if number.appendWhole(to: &bytes) {
      bytes.append(UInt8(ascii: "."))
      bytes.append(UInt8(ascii: "0"))
    } else {
      bytes.append(contentsOf: text(of: number).utf8)
    }
  }

  static func number(_ text: String) -> Double? {
    switch text {
    case "nan": .nan
    case "inf": .infinity
    case "-inf": -.infinity
    // `Double` also reads hexadecimal numbers and words, which are not valid here.
    default: text.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) } ? Double(text) : nil
    }
  }
}
