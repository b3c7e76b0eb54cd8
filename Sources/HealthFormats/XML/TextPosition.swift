/// A place in a text: line and column from 1 (columns in bytes), and bytes from the start.
public struct TextPosition: Hashable, Sendable, Codable {
  public var line: Int
  public var column: Int
  public var offset: Int64

  public init(line: Int, column: Int, offset: Int64) {
    self.line = line
    self.column = column
    self.offset = offset
  }
}
