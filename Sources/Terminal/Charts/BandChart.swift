/// A chart with a row for each band: a bar from the lowest to the highest number, and a dot at the mean. All rows
/// share one axis.
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
    /// The value of the dot drawn over the band; `nil` for no dot.
    public var dot: Double?
    public var high: Double

    /// Creates a band.
    ///
    /// - Parameter dot: Usually between the other two. A value outside is drawn at the nearer end.
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

  /// Creates a chart without bands.
  public init() {}

  /// Appends a row.
  ///
  /// - Parameters:
  ///   - label: The label. It is escaped here, as `text` is.
  ///   - band: The band; `nil` if there is nothing to draw.
  ///   - text: The number as text for people.
  ///   - mark: A number to compare with, drawn as a vertical line; `nil` for none.
  public mutating func append(_ label: String, _ band: Band?, _ text: String, mark: Double? = nil) {
    rows.append(
      Row(
        label: PlainText.escaped(label, limit: 60), band: band, text: PlainText.escaped(text, limit: 60),
        mark: mark.flatMap { $0.isFinite ? $0 : nil }))
  }

  /// Returns the lines of the chart: one with the ends of the axis, then one for each band.
  ///
  /// - Parameters:
  ///   - width: The number of terminal columns.
  ///   - usesUTF8: Whether lines and dots can be shown; else `-` and `o` stand for them.
  ///   - number: Formats the ends of the axis.
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

    /// Returns the drawn line and the spaces that fill the rest of the room.
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
        // A run of equal cells gets one pair of escape sequences.
        let run = rest.prefix { $0 == first }
        let text = run.joined()
        drawn += first == dot ? style.bold(text) : first == bar ? style.green(text) : text
        rest = rest.dropFirst(run.count)
      }
      return (drawn, String(repeating: " ", count: room - end))
    }
  }
}
