/// A place in a text: line and column from 1 (columns in bytes), and bytes from the start.
public struct TextPosition: Hashable, Sendable, Codable {
  /// From 1; lines end with a line feed.
  public var line: Int
  /// From 1, in bytes.
  public var column: Int
  /// Bytes from the start, the first being 0.
  public var offset: Int64

  /// The three must belong together; nothing is computed.
  public init(line: Int, column: Int, offset: Int64) {
    self.line = line
    self.column = column
    self.offset = offset
  }
}
