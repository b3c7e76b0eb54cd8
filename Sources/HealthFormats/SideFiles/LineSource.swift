/// A source of the lines of a text, with any line ending. Keeps about one line in memory.
struct LineSource {
  private let source: any ByteSource
  private let limit: Int
  private var pending: [UInt8] = []
  private var position = 0
  private var isAtEnd = false
  /// The number of the last line read, from 1.
  private(set) var number = 0

  /// Creates a line source.
  ///
  /// - Parameter limit: the maximum length of a line in bytes. A longer line is an error.
  init(_ source: any ByteSource, limit: Int) {
    self.source = source
    self.limit = limit
  }

  /// Returns the next line without its ending and without a byte order mark, or `nil` at the end.
  mutating func next() throws -> ArraySlice<UInt8>? {
    while true {
      if let end = pending[position...].firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
        // The next byte decides whether this is CR or CR LF.
        if pending[end] == 0x0D, end + 1 == pending.count, !isAtEnd {
          try refill()
          continue
        }
        let line = pending[position..<end]
        position = end + (pending[end] == 0x0D && end + 1 < pending.count && pending[end + 1] == 0x0A ? 2 : 1)
        return withoutMark(line)
      }
      if isAtEnd {
        guard position < pending.count else { return nil }
        let line = pending[position...]
        position = pending.count
        return withoutMark(line)
      }
      guard pending.count - position <= limit else {
        throw SideFiles.Failure.unusable("it has a line that is longer than any has")
      }
      try refill()
    }
  }

  private mutating func refill() throws {
    pending.removeFirst(position)
    position = 0
    let chunk = try source.prefix(4096)
    if chunk.isEmpty { isAtEnd = true }
    pending += chunk
  }

  private mutating func withoutMark(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    number += 1
    return number == 1 && line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line
  }
}
