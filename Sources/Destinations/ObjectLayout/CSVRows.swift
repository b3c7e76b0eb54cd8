/// Divides a CSV text (RFC 4180, also with LF alone) into rows.
struct CSVRows {
  struct Row {
    /// Without quotes around them.
    var fields: [String]
    /// Without the end of its line.
    var bytes: ArraySlice<UInt8>
    /// False where a field is not UTF-8, or its quote does not end.
    var isWhole: Bool
  }

  private let bytes: [UInt8]
  private var index = 0
  /// Of the row that is being read.
  private var isWhole = true

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next row that is not empty; `nil` at the end.
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

  /// Up to the comma or the end of the line, which is left.
  private mutating func field() -> String {
    var text: [UInt8] = []
    var isQuoted = false
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        // Within quotes, two are one.
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
