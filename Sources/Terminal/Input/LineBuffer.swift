/// A buffer that cuts a stream of bytes into lines.
struct LineBuffer: Sendable {
  /// The maximum number of bytes kept of a line. The rest is dropped, so that no input can fill the memory.
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

  /// Makes a line of the bytes after the last newline, if there are any.
  mutating func finish() {
    if !partial.isEmpty { endLine() }
  }

  /// Removes the first line and returns it without its newline or carriage return; `nil` if there is none.
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
