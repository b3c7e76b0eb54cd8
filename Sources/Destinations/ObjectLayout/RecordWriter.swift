import HealthModel

/// Writes one JSON object as HealthPush's encoder does: slashes escaped; in an array indented by two, with ` : ` between
/// name and value. Members come in the order in which they are written, which is that of their names.
struct RecordWriter {
  private(set) var bytes: [UInt8] = []
  private let isPretty: Bool
  private var depth = 1
  private var isFirst = true

  /// - Parameter capacity: about how many bytes it will be.
  init(isPretty: Bool, capacity: Int = 0) {
    self.isPretty = isPretty
    bytes.reserveCapacity(capacity)
  }

  mutating func object(_ members: (inout Self) -> Void) {
    bytes.append(UInt8(ascii: "{"))
    (isFirst, depth) = (true, depth + 1)
    members(&self)
    (isFirst, depth) = (false, depth - 1)
    breakLine()
    bytes.append(UInt8(ascii: "}"))
  }

  /// The name of a member, whose value is written next.
  mutating func name(_ name: StaticString) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    breakLine()
    bytes.append("\"")
    bytes.append(name)
    bytes.append(isPretty ? "\" : " : "\":")
  }

  mutating func member(_ name: StaticString, _ text: String) {
    self.name(name)
    guard text.utf8.contains(UInt8(ascii: "/")) else { return bytes.append(quoted: text) }
    var quoted: [UInt8] = []
    quoted.append(quoted: text)
    for byte in quoted {
      if byte == UInt8(ascii: "/") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
  }

  /// `null` of what JSON has no number for.
  mutating func member(_ name: StaticString, _ number: Double) {
    self.name(name)
    if number.isFinite { bytes.append(number: number) } else { bytes.append("null") }
  }

  mutating func member(_ name: StaticString, json: some Sequence<UInt8>) {
    self.name(name)
    bytes.append(contentsOf: json)
  }

  private mutating func breakLine() {
    guard isPretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}
