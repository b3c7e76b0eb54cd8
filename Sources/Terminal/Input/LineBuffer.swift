/// Cuts a stream of bytes into lines.
struct LineBuffer: Sendable {
  /// Bytes of a line that are kept; what goes beyond is dropped, so that no input can fill the memory.
  let limit: Int
  private var partial: [UInt8] = []
  private var lines: [String] = []
  private var next = 0

  init(limit: Int) {
    self.limit = limit
  }

  mutating func append(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        endLine()
      } else if partial.count < limit {
        partial.append(byte)
      }
    }
  }

  /// Makes a line of what came after the last newline, if anything did.
  mutating func finish() {
    if !partial.isEmpty { endLine() }
  }

  /// Takes the first line, without its newline or carriage return.
  mutating func takeLine() -> String? {
    guard next < lines.count else { return nil }
    defer {
      next += 1
      if next == lines.count {
        lines.removeAll(keepingCapacity: true)
        next = 0
      }
    }
    return lines[next]
  }

  private mutating func endLine() {
    if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
    lines.append(String(decoding: partial, as: UTF8.self))
    partial.removeAll(keepingCapacity: true)
  }
}
