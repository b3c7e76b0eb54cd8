/// A buffer of bytes that were read from a source and not consumed yet.
package final class ReadAheadBytes {
  private static let step = 64 << 10

  private let source: AgeReader.Source
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  package init(_ source: @escaping AgeReader.Source) { self.source = source }

  /// The bytes that were read and not consumed.
  package var buffer: ArraySlice<UInt8> { bytes[start...] }

  /// Reads until the buffer holds `count` bytes or the source ends.
  package func fill(_ count: Int) throws {
    while buffer.count < count, !isAtEnd {
      let more = try source(Self.step)
      isAtEnd = more.isEmpty
      bytes.removeFirst(start)
      start = 0
      bytes += more
    }
  }

  /// Consumes and returns the next `count` bytes of the buffer.
  package func take(_ count: Int) -> [UInt8] {
    defer { start += count }
    return Array(bytes[start..<start + count])
  }

  /// Returns the next line without its line ending, or more than `limit` bytes that contain no line ending; `nil` if
  /// the source ends before a line ending.
  func line(atMost limit: Int) throws -> [UInt8]? {
    var searched = 0
    while true {
      if let end = buffer.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return Array(bytes[start..<end])
      }
      searched = buffer.count
      if searched > limit { return take(searched) }
      try fill(searched + 1)
      if buffer.count == searched { return nil }
    }
  }
}
