/// A band from the lowest to the highest of some numbers with a dot at their mean, below one another, under an axis that they
/// share.
///
/// ```swift
/// var chart = BandChart()
/// chart.append("2024-06-15", .init(low: 48, dot: 61, high: 142), "61")
/// try OutputWriter.standardOutput.writeLines(chart.rendered(width: 60) { "\(Int($0))" })
/// ```
public struct BandChart: Sendable {
  /// The numbers of one band.
  public struct Band: Hashable, Sendable {
    public var low: Double
    /// Drawn over the band; `nil` for none.
    public var dot: Double?
    public var high: Double

    /// - Parameter dot: mostly between the other two; what is not is drawn at the nearer end.
    public init(low: Double, dot: Double?, high: Double) {
      self.low = low
      self.dot = dot
      self.high = high
    }
  }

  private struct Row {
    var label: String
    var band: Band?
    var text: String
    var mark: Double?
  }

  private static let narrowest = 10

  private var rows: [Row] = []

  /// A chart without bands.
  public init() {}

  /// - Parameters:
  ///   - label: escaped here, as ``text`` is.
  ///   - band: `nil` where there is nothing to draw.
  ///   - text: the number for people.
  ///   - mark: a number to compare with, at which there is a line; `nil` for none.
  public mutating func append(_ label: String, _ band: Band?, _ text: String, mark: Double? = nil) {
    rows.append(
      Row(
        label: PlainText.escaped(label, limit: 60), band: band, text: PlainText.escaped(text, limit: 60),
        mark: mark.flatMap { $0.isFinite ? $0 : nil }))
  }

  /// A line with the ends of the axis, and one for each band.
  ///
  /// - Parameters:
  ///   - width: the terminal's columns.
  ///   - usesUTF8: whether lines and dots can be shown; else `-` and `o` stand for them.
  ///   - number: writes the ends of the axis.
  public func rendered(
    width: Int, style: Style = .plain, usesUTF8: Bool = true, number: (Double) -> String
  ) -> [String] {
    let label = rows.map { DisplayWidth.of($0.label) }.max() ?? 0
    let text = rows.map { DisplayWidth.of($0.text) }.max() ?? 0
    let room = max(Self.narrowest, width - label - text - 2)
    let ends = (rows.compactMap(\.band).flatMap { [$0.low, $0.high] } + rows.compactMap(\.mark)).filter(\.isFinite)
    guard let lowest = ends.min(), let highest = ends.max() else { return rows.map(\.label) }
    let axis = Axis(low: lowest, high: highest, room: room)
    let (left, right) = (number(lowest), number(highest))
    let space = max(1, room - DisplayWidth.of(left) - DisplayWidth.of(right))
    let heading = String(repeating: " ", count: label + 1) + left + String(repeating: " ", count: space) + right
    return [style.dim(heading)]
      + rows.map { row in
        if row.band == nil, row.mark == nil { return row.label }
        let gap = String(repeating: " ", count: label - DisplayWidth.of(row.label))
        let number = String(repeating: " ", count: text - DisplayWidth.of(row.text)) + row.text
        let (line, rest) = axis.line(row.band, row.mark, style, usesUTF8)
        return "\(row.label)\(gap) \(line)" + (row.text.isEmpty ? "" : "\(rest) \(number)")
      }
  }

  private struct Axis {
    var low: Double
    var high: Double
    var room: Int

    func column(_ value: Double) -> Int {
      let share = high > low ? (value - low) / (high - low) : 0
      return share.isFinite ? Int((max(0, min(1, share)) * Double(room - 1)).rounded()) : 0
    }

    /// What is drawn, and the spaces after it.
    func line(_ band: Band?, _ mark: Double?, _ style: Style, _ usesUTF8: Bool) -> (String, String) {
      let (bar, dot, line) = usesUTF8 ? ("─", "●", "┃") : ("-", "o", "|")
      var cells = Array(repeating: " ", count: room)
      if let band {
        let (first, last) = (column(band.low), max(column(band.low), column(band.high)))
        for cell in first...last { cells[cell] = bar }
        if let value = band.dot { cells[min(max(column(value), first), last)] = dot }
      }
      if let mark { cells[column(mark)] = line }
      let end = (cells.lastIndex { $0 != " " } ?? -1) + 1
      var drawn = ""
      var rest = cells[..<end]
      while let first = rest.first {
        // One pair of escape sequences for what looks the same.
        let run = rest.prefix { $0 == first }
        let text = run.joined()
        drawn += first == dot ? style.bold(text) : first == bar ? style.green(text) : text
        rest = rest.dropFirst(run.count)
      }
      return (drawn, String(repeating: " ", count: room - end))
    }
  }
}
