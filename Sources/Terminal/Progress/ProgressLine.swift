/// What a progress bar shows, and the one line that shows it:
///
///     Pulling  ████████████░░░░░░░░░░░░░░░░░░  41%  504,331/1,204,331  12.4 MB  184,200/s  0:04 left
public struct ProgressLine: Sendable, Equatable {
  public var label: String
  /// So far; neither they nor their rate are shown while they are 0 and only bytes are counted.
  public var items: Int
  /// `nil` while unknown: then bar, percentage and time left go by bytes, if those have a total.
  public var totalItems: Int?
  /// Bytes so far; not shown while 0.
  public var bytes: Int
  /// `nil` while unknown.
  public var totalBytes: Int?
  public var itemsPerSecond: Double?
  public var bytesPerSecond: Double?

  private static let narrowestBar = 10
  private static let widestBar = 30
  private static let gap = "  "

  public init(
    label: String, items: Int = 0, totalItems: Int? = nil, bytes: Int = 0, totalBytes: Int? = nil,
    itemsPerSecond: Double? = nil, bytesPerSecond: Double? = nil
  ) {
    self.label = label
    self.items = items
    self.totalItems = totalItems
    self.bytes = bytes
    self.totalBytes = totalBytes
    self.itemsPerSecond = itemsPerSecond
    self.bytesPerSecond = bytesPerSecond
  }

  /// The line in at most `columns - 1` columns (the last one would wrap). What does not fit is left out, least
  /// important first: bytes, bar, time left, rate, counts, percentage; the label is cut last.
  public func rendered(columns: Int, style: Style = .plain, usesUTF8: Bool = true) -> String {
    let room = max(0, columns - 1)
    let name = DisplayWidth.truncated(label, to: room)
    var used = DisplayWidth.of(name)
    var shown: Set<Part> = []
    var texts: [Part: String] = [:]
    for part in Part.byImportance {
      guard let text = text(of: part) else { continue }
      let width = ProgressLine.gap.count + text.utf8.count
      guard used + width <= room else { continue }
      shown.insert(part)
      texts[part] = text
      used += width
    }
    if shown.contains(.bar), let fraction {
      let width = min(ProgressLine.widestBar, ProgressLine.narrowestBar + room - used)
      texts[.bar] = bar(fraction, width: width, style: style, usesUTF8: usesUTF8)
    }
    let parts = Part.allCases.filter(shown.contains).compactMap { texts[$0] }
    return ([style.bold(name)] + parts).joined(separator: ProgressLine.gap)
  }

  // MARK: Parts

  /// In the order they are shown.
  private enum Part: CaseIterable {
    case bar, percentage, count, bytes, rate, timeLeft

    static let byImportance: [Part] = [.percentage, .count, .rate, .timeLeft, .bar, .bytes]
  }

  /// What measures the whole: items where their number is known, else bytes.
  private var measure: (done: Int, total: Int, perSecond: Double?)? {
    if let totalItems { return (items, totalItems, itemsPerSecond) }
    return totalBytes.map { (bytes, $0, bytesPerSecond) }
  }

  private var countsBytesOnly: Bool { items == 0 && totalItems == nil && bytes > 0 }

  /// 0...1, or `nil` without a total.
  private var fraction: Double? {
    measure.map { $0.total > 0 ? min(1, max(0, Double($0.done) / Double($0.total))) : 1 }
  }

  /// ASCII text; for the bar only its narrowest width.
  private func text(of part: Part) -> String? {
    switch part {
    case .bar:
      return fraction.map { _ in String(repeating: " ", count: ProgressLine.narrowestBar) }
    case .percentage:
      // Always three digits wide, so that what follows stays in place; rounded down, so that 100 % means done.
      return fraction.map { fraction in
        let number = String(Int(fraction * 100))
        return String(repeating: " ", count: 3 - number.count) + number + "%"
      }
    case .count:
      if countsBytesOnly { return nil }
      return HumanFormat.count(items) + (totalItems.map { "/" + HumanFormat.count($0) } ?? "")
    case .bytes:
      return bytes > 0 ? HumanFormat.bytes(bytes) : nil
    case .rate:
      if countsBytesOnly { return nil }
      return itemsPerSecond.map { HumanFormat.rate(perSecond: $0) }
    case .timeLeft:
      guard let measure, let perSecond = measure.perSecond, perSecond > 0 else { return nil }
      let seconds = Double(max(0, measure.total - measure.done)) / perSecond
      // Beyond a few days it is a stalled transfer, not a forecast.
      return seconds < 360_000 ? HumanFormat.countdown(.seconds(seconds)) + " left" : nil
    }
  }

  private func bar(_ fraction: Double, width: Int, style: Style, usesUTF8: Bool) -> String {
    let cells = usesUTF8 ? width : width - 2
    let full = Int(fraction * Double(cells))
    let done = style.green(String(repeating: usesUTF8 ? "█" : "#", count: full))
    let rest = style.dim(String(repeating: usesUTF8 ? "░" : ".", count: cells - full))
    return usesUTF8 ? done + rest : "[" + done + rest + "]"
  }
}
