import HealthModel

/// A JSON object writer that follows HealthPush's encoder: slashes are escaped; if indented, by two spaces, with ` :
/// ` between name and value. Members must be written in the order of their names.
struct RecordObject {
  private(set) var template = RecordTemplate()
  private let isPretty: Bool
  /// The number of open objects and arrays.
  private var depth = 1
  private var isFirst = true

  init(isPretty: Bool) { self.isPretty = isPretty }

  mutating func begin() {
    template.append("{".utf8)
    (isFirst, depth) = (true, depth + 1)
  }

  mutating func end() {
    (isFirst, depth) = (false, depth - 1)
    breakLine()
    template.append("}".utf8)
  }

  /// Writes the name of a member, whose value must follow.
  mutating func name(_ name: String) {
    if !isFirst { template.append(",".utf8) }
    isFirst = false
    breakLine()
    template.append("\"\(name)\(isPretty ? "\" : " : "\":")".utf8)
  }

  mutating func member(_ name: String, _ text: String) {
    self.name(name)
    var quoted: [UInt8] = []
    quoted.append(quoted: text)
    for byte in quoted { template.append(byte == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), byte] : [byte]) }
  }

  mutating func member(_ name: String, _ flag: Bool) {
    self.name(name)
    template.append((flag ? "true" : "false").utf8)
  }

  /// Writes a member with a variable value.
  ///
  /// - Parameter variable: written without quotation marks.
  mutating func member(_ name: String, _ variable: RecordTemplate.Variable) {
    self.name(name)
    template.append(variable)
  }

  mutating func member(_ name: String, quoted variable: RecordTemplate.Variable) {
    self.name(name)
    template.append("\"".utf8)
    template.append(variable)
    template.append("\"".utf8)
  }

  private mutating func breakLine() {
    guard isPretty else { return }
    template.append("\n".utf8)
    template.append(repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}
