/// A chart with a row for each number: a label, a bar, and the number as text.
///
/// ```swift
/// var chart = BarChart()
/// chart.append("2024-06-15", 6700, "6,700")
/// chart.append("2024-06-16", nil, "")           // No data.
/// try OutputWriter.standardOutput.writeLines(chart.rendered(width: 60))
/// ```
///
/// Bars begin at zero. A number below zero, one that is not finite, and a missing number have no bar.
public struct BarChart: Sendable {
  private struct Bar {
    var label: String
    var value: Double?
    var text: String
    var mark: Double?
  }

  /// The minimum width of the bars, in columns.
  private static let narrowest = 5
  /// The partial blocks, from zero to seven eighths. U+2588 is the full block.
  private static let blocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  private var bars: [Bar] = []

  /// Creates a chart without bars.
  public init() {}

  /// Appends a row.
  ///
  /// - Parameters:
  ///   - label: The label. It is escaped here, as `text` is.
  ///   - value: The number; `nil` if there is none.
  ///   - text: The number as text for people.
  ///   - mark: A number to compare with, drawn as a vertical line; `nil` for none.
  public mutating func append(_ label: String, _ value: Double?, _ text: String, mark: Double? = nil) {
    bars.append(
      Bar(
        label: PlainText.escaped(label, limit: 60), value: value, text: PlainText.escaped(text, limit: 60), mark: mark))
  }

  /// Returns the lines of the chart: one for each bar, below a line with the ends of the axis if `axis` is given.
  ///
  /// - Parameters:
  ///   - width: The number of terminal columns.
  ///   - usesUTF8: Whether blocks can be shown; else bars are made of `#`.
  ///   - axis: Formats the ends of the axis; `nil` for no axis line.
  public func rendered(
    width: Int, style: Style = .plain, usesUTF8: Bool = true, axis: ((Double) -> String)? = nil
  ) -> [String] {
    let label = bars.map { DisplayWidth.of($0.label) }.max() ?? 0
    let text = bars.map { DisplayWidth.of($0.text) }.max() ?? 0
    let room = max(Self.narrowest, width - label - text - 2)
    let values = bars.flatMap { [$0.value, $0.mark].compactMap(\.self) }.filter(\.isFinite)
    let highest = max(values.max() ?? 0, .leastNormalMagnitude)
    let heading = axis.map { number in
      let (left, right) = (number(0), number(values.isEmpty ? 0 : highest))
      let space = max(1, room - DisplayWidth.of(left) - DisplayWidth.of(right))
      return style.dim(String(repeating: " ", count: label + 1) + left + String(repeating: " ", count: space) + right)
    }
    return [heading].compactMap(\.self)
      + bars.map { bar -> String in
        let share = bar.value.map { $0.isFinite ? max(0, min(1, $0 / highest)) : 0 } ?? 0
        let body = Self.bar(share, room, usesUTF8)
        var line = body + String(repeating: " ", count: room - DisplayWidth.of(body))
        if let mark = bar.mark, mark.isFinite {
          var cells = line.map(String.init)
          cells[Int((max(0, min(1, mark / highest)) * Double(room - 1)).rounded())] = usesUTF8 ? "┃" : "|"
          line = cells.joined()
        }
        let gap = String(repeating: " ", count: label - DisplayWidth.of(bar.label))
        let number = String(repeating: " ", count: text - DisplayWidth.of(bar.text)) + bar.text
        if bar.value == nil, bar.mark == nil { return bar.label }
        return "\(bar.label)\(gap) \(style.green(line)) \(number)"
      }
  }

  /// Returns the bar for a share.
  ///
  /// - Parameter share: From 0 to 1; NaN gives an empty bar.
  private static func bar(_ share: Double, _ room: Int, _ usesUTF8: Bool) -> String {
    guard share > 0 else { return "" }
    let eighths = Int((share * Double(room) * 8).rounded())
    if !usesUTF8 { return String(repeating: "#", count: max(1, (eighths + 4) / 8)) }
    return String(repeating: "█", count: eighths / 8) + (eighths == 0 ? blocks[1] : blocks[eighths % 8])
  }
}
