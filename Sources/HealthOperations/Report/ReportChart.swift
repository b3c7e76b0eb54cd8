import Foundation

/// A chart over days as SVG, in black and one hue, for paper.
///
/// The style is in attributes, because WeasyPrint does not apply a page's style sheet inside an SVG.
struct ReportChart {
  /// An element of the chart.
  enum Mark {
    case dot(day: Double, Double)
    /// A line from a low to a high value.
    case span(day: Double, Double, Double)
    /// A bar from the lower edge.
    case bar(day: Double, Double)
    /// A line through several days.
    case path([(day: Double, value: Double)])
  }

  /// The accessible title.
  var title: String
  var days: ClosedRange<Int>
  var marks: [Mark]
  var startsAtZero = false
  /// A function that formats the values of the vertical axis.
  var number: (Double) -> String = { HTMLText.number($0) }
  /// A function that formats a day below the horizontal axis.
  var date: (Int) -> String

  private static let (width, height) = (680.0, 96.0)
  private static let (left, right, top, bottom) = (52.0, 6.0, 6.0, 16.0)

  /// Returns the chart as SVG, or `nil` if there is nothing to draw.
  func svg() -> String? {
    let values = marks.flatMap { mark -> [Double] in
      switch mark {
      case .dot(_, let value), .bar(_, let value): [value]
      case .span(_, let low, let high): [low, high]
      case .path(let points): points.map(\.value)
      }
    }.filter { $0.isFinite && $0.magnitude < 1e12 }
    guard let lowest = values.min(), let highest = values.max() else { return nil }
    let steps = Self.steps(startsAtZero ? min(0, lowest) : lowest, highest)
    let (low, high) = (steps[0], steps[steps.count - 1])
    func y(_ value: Double) -> String {
      let share = (min(max(value, low), high) - low) / (high - low)
      return Self.text(Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom))
    }
    func x(_ day: Double) -> Double {
      let share = (day - Double(days.lowerBound) + 0.5) / Double(days.count)
      return Self.left + share * (Self.width - Self.left - Self.right)
    }
    let wide = max(0.6, min(12, (Self.width - Self.left - Self.right) / Double(days.count) * 0.7))
    var svg = """
      <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img"><title>\(HTMLText.escaped(title))</title>\n
      """
    for step in steps {
      svg +=
        "<path fill=\"none\" stroke=\"#ccc\" stroke-width=\"0.5\" d=\"M\(Self.text(Self.left)) \(y(step))H\(Self.text(Self.width - Self.right))\"/>"
      svg +=
        "<text font-size=\"9\" fill=\"#333\" text-anchor=\"end\" x=\"\(Self.text(Self.left - 5))\" y=\"\(y(step))\" dy=\"3\">\(number(step))</text>\n"
    }
    svg += axis(x)
    for mark in marks {
      switch mark {
      case .dot(let day, let value):
        svg +=
          "<circle fill=\"#7d9fca\" cx=\"\(Self.text(x(day)))\" cy=\"\(y(value))\" r=\"\(Self.text(min(2, max(1, wide / 2))))\"/>"
      case .span(let day, let low, let high):
        svg +=
          "<path fill=\"none\" stroke=\"#1a4d8f\" stroke-width=\"\(Self.text(min(3, wide)))\" d=\"M\(Self.text(x(day))) \(y(low))V\(y(high))\"/>"
      case .bar(let day, let value):
        let base = Self.text(x(day) - wide / 2)
        svg += "<path fill=\"#6f94c4\" d=\"M\(base) \(y(low))V\(y(value))h\(Self.text(wide))V\(y(low))z\"/>"
      case .path(let points) where points.count > 1:
        let line = points.map { "\(Self.text(x($0.day))) \(y($0.value))" }.joined(separator: "L")
        svg += "<path fill=\"none\" stroke=\"#1a4d8f\" stroke-width=\"1.3\" d=\"M\(line)\"/>"
      case .path: continue
      }
    }
    return svg + "\n</svg>"
  }

  /// Returns up to five dates below the axis.
  private func axis(_ x: (Double) -> Double) -> String {
    let count = min(5, days.count)
    return (0..<count).map { index -> String in
      let share = count == 1 ? 0 : Double(index) / Double(count - 1)
      let day = days.lowerBound + Int((share * Double(days.count - 1)).rounded())
      let anchor = index == 0 && count > 1 ? "start" : index == count - 1 && count > 1 ? "end" : "middle"
      return "<text font-size=\"9\" fill=\"#333\" text-anchor=\"\(anchor)\" x=\"\(Self.text(x(Double(day))))\" "
        + "y=\"\(Int(Self.height) - 4)\">\(HTMLText.escaped(date(day)))</text>"
    }.joined() + "\n"
  }

  /// Returns three to six round numbers from below the lowest value to above the highest.
  static func steps(_ low: Double, _ high: Double) -> [Double] {
    let span = max(high - low, max(high.magnitude, 1) * 0.02)
    let power = pow(10, floor(log10(span / 3)))
    let step = [1.0, 2, 2.5, 5, 10].map { $0 * power }.first { span / $0 <= 4 } ?? 10 * power
    let first = floor(low / step)
    let last = max(ceil(high / step), first + 1)
    return stride(from: first, through: last, by: 1).map { $0 * step }
  }

  /// Returns a coordinate with at most one decimal.
  static func text(_ value: Double) -> String {
    let tenths = Int((min(max(value, -1e6), 1e6) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
