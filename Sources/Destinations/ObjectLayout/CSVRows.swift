/// A reader that divides a CSV text (RFC 4180, also with LF alone) into rows.
struct CSVRows {
  struct Row {
    /// The field values without enclosing quotes.
    var fields: [String]
    /// The bytes of the row without the line end.
    var bytes: ArraySlice<UInt8>
    /// Whether the row is intact: every field is UTF-8 and every quote is closed.
    var isWhole: Bool
  }

  private let bytes: [UInt8]
  private var index = 0
  /// Whether the row that is being read is intact so far.
  private var isWhole = true

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the next row that is not empty, or `nil` at the end.
  mutating func next() -> Row? {
    while index < bytes.count, bytes[index] == 0x0A || bytes[index] == 0x0D { index += 1 }
    guard index < bytes.count else { return nil }
    let start = index
    isWhole = true
    var fields: [String] = []
    while true {
      fields.append(field())
      guard index < bytes.count, bytes[index] == UInt8(ascii: ",") else { break }
      index += 1
    }
    return Row(fields: fields, bytes: bytes[start..<index], isWhole: isWhole)
  }

  /// Reads a field up to the comma or line end, which is not consumed.
  private mutating func field() -> String {
    var text: [UInt8] = []
    var isQuoted = false
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        // Inside quotes, a doubled quote stands for a single quote.
        if isQuoted, index + 1 < bytes.count, bytes[index + 1] == byte {
          text.append(byte)
          index += 1
        } else {
          isQuoted.toggle()
        }
      } else if !isQuoted, byte == UInt8(ascii: ",") || byte == 0x0A || byte == 0x0D {
        break
      } else {
        text.append(byte)
      }
      index += 1
    }
    if isQuoted { isWhole = false }
    guard let string = String(validating: text, as: UTF8.self) else {
      isWhole = false
      return String(decoding: text, as: UTF8.self)
    }
    return string
  }
}
