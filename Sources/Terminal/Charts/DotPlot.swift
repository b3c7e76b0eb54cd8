/// A plot of many numbers over a continuous quantity, such as time or distance, as dots with labelled axes.
///
/// ```swift
/// let points = (0..<400).map { DotPlot.Point(x: Double($0), y: Double($0 % 30)) }
/// let plot = DotPlot(points)
/// let lines = plot.rendered(width: 60, height: 8, from: "2023-01-01", to: "2024-02-05") { "\(Int($0)) kg" }
/// try OutputWriter.standardOutput.writeLines(lines)
/// ```
public struct DotPlot: Sendable {
  /// A point of a plot.
  public struct Point: Hashable, Sendable {
    public var x: Double
    public var y: Double

    /// Creates a point. Points with a coordinate that is not finite are not drawn.
    public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
  }

  private let points: [Point]
  private let isLine: Bool

  /// Creates a plot.
  ///
  /// - Parameters:
  ///   - points: The points in any order; for a line, in the order of the line.
  ///   - isLine: Whether consecutive points are joined.
  public init(_ points: [Point], isLine: Bool = false) {
    self.points = points.filter { $0.x.isFinite && $0.y.isFinite }
    self.isLine = isLine
  }

  /// Returns the plot with the highest and the lowest number beside it, and a line with the ends of the horizontal
  /// axis.
  ///
  /// - Parameters:
  ///   - width: The number of terminal columns.
  ///   - height: The number of lines of the plot, without the axis.
  ///   - first: The text below the left end.
  ///   - last: The text below the right end.
  ///   - number: Formats the ends of the vertical axis, with their unit.
  public func rendered(
    width: Int, height: Int, style: Style = .plain, usesUTF8: Bool = true, from first: String, to last: String,
    number: (Double) -> String
  ) -> [String] {
    let (xs, ys) = (points.map(\.x), points.map(\.y))
    guard let left = xs.min(), let right = xs.max(), let low = ys.min(), let high = ys.max() else { return [] }
    let labels = [number(high), number(low)].map { PlainText.escaped($0, limit: 40) }
    let label = labels.map(DisplayWidth.of).max() ?? 0
    var canvas = DotCanvas(columns: max(10, width - label - 1), rows: height, usesUTF8: usesUTF8)
    func place(_ value: Double, _ low: Double, _ high: Double, _ count: Int) -> Int {
      let share = high > low ? (value - low) / (high - low) : 0.5
      return share.isFinite ? Int((min(max(share, 0), 1) * Double(count - 1)).rounded()) : 0
    }
    var before: (x: Int, y: Int)?
    for point in points {
      let dot = (
        x: place(point.x, left, right, canvas.width), y: canvas.height - 1 - place(point.y, low, high, canvas.height)
      )
      if isLine, let before { canvas.line(from: before, to: dot) } else { canvas.dot(dot.x, dot.y) }
      before = dot
    }
    let lines = canvas.lines()
    let plot = lines.enumerated().map { index, line in
      let text = index == 0 ? labels[0] : index == lines.count - 1 ? labels[1] : ""
      let gap = String(repeating: " ", count: label - DisplayWidth.of(text))
      return style.dim(gap + text) + (line.isEmpty ? "" : " " + style.green(line))
    }
    let (start, end) = (PlainText.escaped(first, limit: 40), PlainText.escaped(last, limit: 40))
    let texts = DisplayWidth.of(start) + DisplayWidth.of(end)
    // In a narrow window the axis begins below the numbers.
    let indent = max(0, min(label + 1, width - texts - 1))
    let room = label + 1 + max(10, width - label - 1) - indent - texts
    let axis = String(repeating: " ", count: indent) + start + String(repeating: " ", count: max(1, room)) + end
    return plot + [style.dim(axis)]
  }
}
