/// A grid of dots, drawn with braille patterns (U+2800 to U+28FF, 2 by 4 dots in a cell), or with one mark per cell
/// if those cannot be shown.
///
/// ```swift
/// var canvas = DotCanvas(columns: 20, rows: 4)
/// canvas.line(from: (0, 0), to: (canvas.width - 1, canvas.height - 1))
/// try OutputWriter.standardOutput.writeLines(canvas.lines())
/// ```
public struct DotCanvas: Sendable {
  /// The number of dots across. The first dot is at the top left.
  public let width: Int
  public let height: Int
  /// The approximate ratio of a dot's height to its width.
  public let aspect: Double

  private let columns: Int
  private let isBraille: Bool
  private var cells: [UInt8]

  /// Creates an empty canvas.
  ///
  /// - Parameters:
  ///   - columns: The number of cells across, raised to at least 1.
  ///   - rows: The number of rows of cells, raised to at least 1.
  public init(columns: Int, rows: Int, usesUTF8: Bool = true) {
    let (columns, rows) = (max(1, columns), max(1, rows))
    self.columns = columns
    isBraille = usesUTF8
    (width, height) = usesUTF8 ? (columns * 2, rows * 4) : (columns, rows)
    aspect = usesUTF8 ? 1 : 2
    cells = Array(repeating: 0, count: columns * rows)
  }

  /// Sets a dot. A dot outside the canvas is ignored.
  public mutating func dot(_ x: Int, _ y: Int) {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return }
    guard isBraille else { return cells[y * columns + x] = 1 }
    // Dots 1 to 8 of a pattern: the left column, the right, and the fourth row below.
    let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
    cells[y / 4 * columns + x / 2] |= bits[y % 4][x % 2]
  }

  /// Sets all dots between two dots, both included (Bresenham). The ends are clamped to the canvas.
  public mutating func line(from one: (x: Int, y: Int), to other: (x: Int, y: Int)) {
    var (x, y) = (min(max(one.x, 0), width - 1), min(max(one.y, 0), height - 1))
    let (endX, endY) = (min(max(other.x, 0), width - 1), min(max(other.y, 0), height - 1))
    let (dx, dy) = (abs(endX - x), -abs(endY - y))
    var error = dx + dy
    while true {
      dot(x, y)
      if x == endX, y == endY { return }
      let twice = 2 * error
      if twice >= dy {
        error += dy
        x += x < endX ? 1 : -1
      }
      if twice <= dx {
        error += dx
        y += y < endY ? 1 : -1
      }
    }
  }

  /// Returns a line of text for each row, without trailing spaces.
  public func lines() -> [String] {
    stride(from: 0, to: cells.count, by: columns).map { start in
      let row = cells[start..<start + columns]
      guard let last = row.lastIndex(where: { $0 != 0 }) else { return "" }
      return row[start...last].map { cell in
        guard isBraille else { return cell == 0 ? " " : "*" }
        // An empty pattern is not as wide as others in some fonts.
        return cell == 0 ? " " : String(Unicode.Scalar(0x2800 + UInt32(cell)) ?? " ")
      }.joined()
    }
  }
}
