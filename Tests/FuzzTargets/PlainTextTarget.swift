import Terminal

extension FuzzTarget {
  /// Fuzzes the escaping of text for the terminal. The first byte is the length limit.
  @Sendable static func plainText(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let limit = Int(first)
    let escaped = PlainText.escaped(text(input.dropFirst()), limit: limit)
    for scalar in escaped.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: fatalError("broken promise: \(scalar.value) in the output")
      default: break
      }
      let isBidirectional =
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        || [0x061C, 0x200E, 0x200F].contains(scalar.value)
      require(!isBidirectional, "\(scalar.value) reorders the line")
    }
    require(
      escaped.count <= limit && escaped.unicodeScalars.count <= 16 * limit, "\(escaped.count) characters of \(limit)")
    var table = Table(columns: [.init("NAME"), .init("COUNT", .trailing)])
    table.append([.init(text(input)), .init("1")])
    for line in table.rendered(width: limit) {
      require(!line.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a line: \(line)")
    }
  }
}
