/// Bytes of a source that were read and not taken yet.
package final class ReadAheadBytes {
  private static let step = 64 << 10

  private let source: AgeReader.Source
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  package init(_ source: @escaping AgeReader.Source) { self.source = source }

  /// What was read and not taken.
  package var buffer: ArraySlice<UInt8> { bytes[start...] }

  /// Reads until there are so many, or the end is reached.
  package func fill(_ count: Int) throws {
    while buffer.count < count, !isAtEnd {
      let more = try source(Self.step)
      isAtEnd = more.isEmpty
      bytes.removeFirst(start)
      start = 0
      bytes += more
    }
  }

  /// Takes so many of those that were read.
  package func take(_ count: Int) -> [UInt8] {
    defer { start += count }
    return Array(bytes[start..<start + count])
  }

  /// The next line without its end, or as many bytes as `limit` without one: `nil` where the end comes first.
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
