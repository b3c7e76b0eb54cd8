/// The table of samples (`docs/reference/formats/csv.md`): RFC 4180 in UTF-8, a header, a row a sample. An absent text is an empty
/// field, an empty one is `""`.
enum SampleCSV {
  enum Column: String, CaseIterable {
    case uuid, type, start, end, created, value, unit, category
    /// What the integer is called, for people: a reader does without.
    case categoryName
    case sourceName, sourceBundle, sourceVersion, device, metadata, payloadKind, payload
  }

  /// The columns without which a table is none of ours.
  static let required: [Column] = [.uuid, .type, .start, .end, .sourceName, .payloadKind]

  /// A number as it stands in the table: what `Double` reads back exactly, or a word where it is not finite.
  static func text(of number: Double) -> String {
    number.isFinite ? "\(number)" : number.isNaN ? "nan" : number < 0 ? "-inf" : "inf"
  }

  /// Appends what ``text(of:)`` is; mostly without a `String`.
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
    // What `Double` reads beyond decimal numbers is none.
    default: text.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) } ? Double(text) : nil
    }
  }
}
