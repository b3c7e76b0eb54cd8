/// A bar for each number, below one another: a label, the bar, and the number as text.
///
/// ```swift
/// var chart = BarChart()
/// chart.append("2024-06-15", 6700, "6,700")
/// chart.append("2024-06-16", nil, "")           // Nobody knows.
/// try OutputWriter.standardOutput.writeLines(chart.rendered(width: 60))
/// ```
///
/// Bars begin at zero. A number below it, one that is not finite, or none at all, has no bar.
public struct BarChart: Sendable {
  private struct Bar {
    var label: String
    var value: Double?
    var text: String
  }

  /// The shortest that a bar may be made to fit a window.
  private static let narrowest = 5
  /// The eighths of a block: U+2588 is the whole one.
  private static let blocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  private var bars: [Bar] = []

  /// A chart without bars.
  public init() {}

  /// - Parameters:
  ///   - label: escaped here, as ``text`` is.
  ///   - value: `nil` where there is none.
  ///   - text: the number for people.
  public mutating func append(_ label: String, _ value: Double?, _ text: String) {
    bars.append(Bar(label: PlainText.escaped(label, limit: 60), value: value, text: PlainText.escaped(text, limit: 60)))
  }

  /// A line for each bar.
  ///
  /// - Parameters:
  ///   - width: the terminal's columns.
  ///   - usesUTF8: whether blocks can be shown; else bars are made of `#`.
  public func rendered(width: Int, style: Style = .plain, usesUTF8: Bool = true) -> [String] {
    let label = bars.map { DisplayWidth.of($0.label) }.max() ?? 0
    let text = bars.map { DisplayWidth.of($0.text) }.max() ?? 0
    let room = max(Self.narrowest, width - label - text - 2)
    let values = bars.compactMap(\.value).filter(\.isFinite)
    let highest = max(values.max() ?? 0, .leastNormalMagnitude)
    return bars.map { bar in
      let share = bar.value.map { $0.isFinite ? max(0, min(1, $0 / highest)) : 0 } ?? 0
      let body = Self.bar(share, room, usesUTF8)
      let padding = String(repeating: " ", count: room - DisplayWidth.of(body))
      let gap = String(repeating: " ", count: label - DisplayWidth.of(bar.label))
      let number = String(repeating: " ", count: text - DisplayWidth.of(bar.text)) + bar.text
      let line = "\(bar.label)\(gap) \(style.green(body))\(padding) \(number)"
      return bar.value == nil ? bar.label : line
    }
  }

  /// - Parameter share: from 0 to 1; NaN is nothing.
  private static func bar(_ share: Double, _ room: Int, _ usesUTF8: Bool) -> String {
    guard share > 0 else { return "" }
    let eighths = Int((share * Double(room) * 8).rounded())
    if !usesUTF8 { return String(repeating: "#", count: max(1, (eighths + 4) / 8)) }
    return String(repeating: "█", count: eighths / 8) + (eighths == 0 ? blocks[1] : blocks[eighths % 8])
  }
}
