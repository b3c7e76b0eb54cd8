/// A chart with a row for each span of time, such as a night from going to bed to getting up. All rows share one
/// axis.
///
/// ```swift
/// var chart = SpanChart()
/// chart.append("2024-06-15", [.init(-1, 3, 0), .init(3, 4, 1), .init(4, 7, 0)], "7:02")
/// try OutputWriter.standardOutput.writeLines(chart.rendered(width: 60) { "\(Int($0)):00" })
/// ```
public struct SpanChart: Sendable {
  /// A part of a span. Parts of one kind look alike.
  public struct Part: Hashable, Sendable {
    public var start: Double
    public var end: Double
    /// The index of a mark: from 0, the darkest, to 3, the lightest.
    public var kind: Int

    public init(_ start: Double, _ end: Double, _ kind: Int) {
      (self.start, self.end, self.kind) = (start, end, kind)
    }
  }

  private struct Row {
    var label: String
    var parts: [Part]
    var text: String
  }

  private static let narrowest = 10

  private var rows: [Row] = []

  /// Creates a chart without spans.
  public init() {}

  /// Returns the marks of the kinds, in order.
  public static func marks(usesUTF8: Bool) -> [String] { usesUTF8 ? ["█", "▓", "▒", "·"] : ["#", "=", "+", "."] }

  /// Appends a row.
  ///
  /// - Parameters:
  ///   - label: The label. It is escaped here, as `text` is.
  ///   - parts: The parts. Later ones are drawn over earlier ones.
  ///   - text: The number as text for people.
  public mutating func append(_ label: String, _ parts: [Part], _ text: String) {
    rows.append(
      Row(
        label: PlainText.escaped(label, limit: 60),
        parts: parts.filter { $0.start.isFinite && $0.end.isFinite && $0.start <= $0.end },
        text: PlainText.escaped(text, limit: 60)))
  }

  /// Returns the lines of the chart: one with the ends of the axis, then one for each span.
  ///
  /// - Parameters:
  ///   - width: The number of terminal columns.
  ///   - axis: Formats the ends of the axis.
  public func rendered(
    width: Int, style: Style = .plain, usesUTF8: Bool = true, axis: (Double) -> String
  ) -> [String] {
    let label = rows.map { DisplayWidth.of($0.label) }.max() ?? 0
    let text = rows.map { DisplayWidth.of($0.text) }.max() ?? 0
    let room = max(Self.narrowest, width - label - text - 2)
    let parts = rows.flatMap(\.parts)
    guard let low = parts.map(\.start).min()?.rounded(.down), let high = parts.map(\.end).max()?.rounded(.up),
      low < high
    else { return rows.map(\.label) }
    let marks = Self.marks(usesUTF8: usesUTF8)
    let (left, right) = (axis(low), axis(high))
    let space = max(1, room - DisplayWidth.of(left) - DisplayWidth.of(right))
    let heading = String(repeating: " ", count: label + 1) + left + String(repeating: " ", count: space) + right
    return [style.dim(heading)]
      + rows.map { row in
        var cells = Array(repeating: " ", count: room)
        for part in row.parts {
          let first = Int((part.start - low) / (high - low) * Double(room))
          let last = Int(((part.end - low) / (high - low) * Double(room)).rounded(.up)) - 1
          for cell in min(first, room - 1)...max(min(first, room - 1), min(last, room - 1)) {
            cells[cell] = marks[min(max(part.kind, 0), marks.count - 1)]
          }
        }
        if row.parts.isEmpty { return row.label }
        let gap = String(repeating: " ", count: label - DisplayWidth.of(row.label))
        let number = String(repeating: " ", count: text - DisplayWidth.of(row.text)) + row.text
        return "\(row.label)\(gap) \(style.green(cells.joined())) \(number)"
      }
  }
}
