/// The contents of a progress bar, and the line that shows them:
///
///     Pulling  ████████████░░░░░░░░░░░░░░░░░░   41%    504,331/1,204,331  12.4 MB  184,200/s   0:04 left
///     Pulling  ████████████░░░░░░░░░░░░░░░░░░   41%    504,331/1,204,331  12.4 MB  waiting 0:12 of 0:30
///
/// ```swift
/// let line = ProgressLine(label: "Pulling", items: 504_331, totalItems: 1_204_331, itemsPerSecond: 184_200)
/// print(line.rendered(columns: 100))
/// ```
///
/// A ``ProgressBar`` keeps one on the screen.
public struct ProgressLine: Sendable, Equatable {
  /// The name of the current work in a word, such as `Pulling`, already safe for a terminal.
  public var label: String
  /// The number of finished items. It and its rate are hidden while it is 0 and only bytes are counted.
  public var items: Int
  /// The total number of items; `nil` while unknown. Bar, percentage and time left then follow the bytes, if their
  /// total is known.
  public var totalItems: Int?
  /// The number of finished bytes; hidden while 0.
  public var bytes: Int
  /// The total number of bytes; `nil` while unknown.
  public var totalBytes: Int?
  /// The rate of ``items``; hidden while it would read 0.0.
  public var itemsPerSecond: Double?
  /// The rate of ``bytes``, for the time left if bytes measure the whole; not shown itself.
  public var bytesPerSecond: Double?
  /// The time since the last news, if it is worth showing. It is shown in place of rate and time left.
  public var silence: Duration?
  /// The silence after which the caller gives up; shown with ``silence``.
  public var patience: Duration?

  private static let narrowestBar = 10
  private static let widestBar = 30
  private static let gap = "  "
  /// The number of columns that a line leaves free: a terminal echoes Ctrl-C as `^C`, and a full line would then
  /// wrap.
  private static let reserve = 3

  /// Creates a line. Every argument but the label may be omitted; its part is then hidden.
  public init(
    label: String, items: Int = 0, totalItems: Int? = nil, bytes: Int = 0, totalBytes: Int? = nil,
    itemsPerSecond: Double? = nil, bytesPerSecond: Double? = nil, silence: Duration? = nil, patience: Duration? = nil
  ) {
    self.label = label
    self.items = items
    self.totalItems = totalItems
    self.bytes = bytes
    self.totalBytes = totalBytes
    self.itemsPerSecond = itemsPerSecond
    self.bytesPerSecond = bytesPerSecond
    self.silence = silence
    self.patience = patience
  }

  /// Returns the line in at most `columns - 3` columns. Parts that do not fit are left out, least important first:
  /// bytes, bar, time left, rate, counts, percentage; the label is cut last. Each part keeps its place while the
  /// numbers grow.
  public func rendered(columns: Int, style: Style = .plain, usesUTF8: Bool = true) -> String {
    let room = max(0, columns - ProgressLine.reserve)
    let name = DisplayWidth.truncated(label, to: room)
    var used = DisplayWidth.of(name)
    var widths: [Part: Int] = [:]
    var isCrowded = false
    for part in Part.byImportance {
      guard let width = width(of: part) else { continue }
      guard used + ProgressLine.gap.count + width <= room, !isCrowded || !part.isOrnament else {
        isCrowded = isCrowded || part.isForecast
        continue
      }
      widths[part] = width
      used += ProgressLine.gap.count + width
    }
    if let narrowest = widths[.bar] {
      let width = min(ProgressLine.widestBar, narrowest + room - used)
      widths[.bar] = width
      used += width - narrowest
    }

    var parts = [style.bold(name)]
    for part in Part.allCases {
      guard let width = widths[part] else { continue }
      if silence != nil, part.isForecast {
        used -= ProgressLine.gap.count + width
      } else if part == .bar {
        parts.append(bar(width: width, style: style, usesUTF8: usesUTF8))
      } else {
        parts.append(ProgressLine.padded(text(of: part), to: width))
      }
    }
    if let waiting = waiting(columns: room - used - ProgressLine.gap.count) { parts.append(waiting) }
    var line = parts.joined(separator: ProgressLine.gap)
    while line.last == " " { line.removeLast() }
    return line
  }

  // MARK: Parts

  /// The parts of the line after the label, in the order of display.
  private enum Part: CaseIterable {
    case bar, percentage, count, bytes, rate, timeLeft

    static let byImportance: [Part] = [.percentage, .count, .rate, .timeLeft, .bar, .bytes]

    /// Whether the part assumes that work continues at the same rate.
    var isForecast: Bool { self == .rate || self == .timeLeft }

    /// Whether the part is hidden if a forecast, or silence in place of it, has no room.
    var isOrnament: Bool { self == .bar || self == .bytes }
  }

  /// The measure of the whole: items if their number is known, else bytes.
  private var measure: (done: Int, total: Int, perSecond: Double?)? {
    if let totalItems { return (items, totalItems, rate) }
    return totalBytes.map { (bytes, $0, bytesPerSecond) }
  }

  /// The rate of items; `nil` as long as it would read 0.0.
  private var rate: Double? { itemsPerSecond.flatMap { $0 >= 0.05 ? $0 : nil } }

  private var countsBytesOnly: Bool { items == 0 && totalItems == nil && bytes > 0 }

  /// The finished share, 0...1; `nil` without a total.
  private var fraction: Double? {
    measure.map { $0.total > 0 ? min(1, max(0, Double($0.done) / Double($0.total))) : 1 }
  }

  /// Returns the width that is reserved for a part whatever it says, unless its text is unexpectedly long; for the
  /// bar the minimum. `nil` if the part is hidden.
  private func width(of part: Part) -> Int? {
    switch part {
    case .bar: return measure.map { _ in ProgressLine.narrowestBar }
    case .percentage: return measure.map { _ in "100%".utf8.count }
    case .count:
      if countsBytesOnly { return nil }
      let widest = totalItems.map { 2 * HumanFormat.count($0).utf8.count + 1 } ?? "1,204,331".utf8.count
      return max(widest, text(of: .count).utf8.count)
    case .bytes: return bytes > 0 ? "12.4 MB".utf8.count : nil
    case .rate: return countsBytesOnly ? nil : max("184,200/s".utf8.count, text(of: .rate).utf8.count)
    case .timeLeft: return measure.map { _ in max("59:59 left".utf8.count, text(of: .timeLeft).utf8.count) }
    }
  }

  /// Returns the text of a part in ASCII; empty for the bar, and as long as there is nothing to say.
  private func text(of part: Part) -> String {
    switch part {
    case .bar: return ""
    // Rounded down, so that 100 % means done.
    case .percentage: return fraction.map { "\(Int($0 * 100))%" } ?? ""
    case .count: return HumanFormat.count(items) + (totalItems.map { "/" + HumanFormat.count($0) } ?? "")
    case .bytes: return HumanFormat.bytes(bytes)
    case .rate:
      return rate.map(HumanFormat.rate) ?? ""
    case .timeLeft:
      guard let measure, let perSecond = measure.perSecond, perSecond > 0 else { return "" }
      let seconds = Double(max(0, measure.total - measure.done)) / perSecond
      // Beyond a few days it is a stalled transfer, not a forecast.
      return seconds < 360_000 ? HumanFormat.countdown(.seconds(seconds)) + " left" : ""
    }
  }

  /// Returns the longest text about the silence that fits; `nil` without silence or room.
  private func waiting(columns: Int) -> String? {
    guard let silence else { return nil }
    let short = "waiting \(ProgressLine.clock(silence))"
    let full = patience.map { "\(short) of \(ProgressLine.clock($0))" } ?? short
    return [full, short, "waiting"].first { $0.utf8.count <= columns }
  }

  /// Returns the whole seconds that have passed. They are rounded down first, because a countdown rounds up.
  private static func clock(_ duration: Duration) -> String {
    HumanFormat.countdown(.seconds(duration.components.seconds))
  }

  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }

  private func bar(width: Int, style: Style, usesUTF8: Bool) -> String {
    let cells = usesUTF8 ? width : width - 2
    let full = Int((fraction ?? 0) * Double(cells))
    let done = style.green(String(repeating: usesUTF8 ? "█" : "#", count: full))
    let rest = style.dim(String(repeating: usesUTF8 ? "░" : ".", count: cells - full))
    return usesUTF8 ? done + rest : "[" + done + rest + "]"
  }
}
