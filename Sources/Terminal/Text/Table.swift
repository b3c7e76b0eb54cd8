/// A table of text in aligned columns.
///
/// ```swift
/// var table = Table(columns: [.init("NAME"), .init("SAMPLES", .trailing)])
/// table.append([.init("studio", .green), .init(HumanFormat.count(1_204_331))])
/// try OutputWriter.standardOutput.writeLines(table.rendered(width: 80))
/// ```
///
/// Every cell goes through ``PlainText/escaped(_:limit:)``, so text from the network may be put in as it came.
public struct Table: Sendable {
  /// The side of its column on which a text stands.
  public enum Alignment: Sendable {
    /// The left side, for text; the right side, for numbers, which are never cut.
    case leading, trailing
  }

  /// A column of a table: its title, and how its cells are shown.
  public struct Column: Sendable {
    /// The title, shown in the header or, in a block, before each cell.
    public let title: String
    /// The alignment of the cells and of the title.
    public let alignment: Alignment
    /// Whether cells are never cut, because half of a date or an address says nothing. Trailing columns are never
    /// cut.
    let isWhole: Bool

    /// Creates a column.
    ///
    /// - Parameter isWhole: Whether cells are never cut, because half of one would say nothing. Numbers never are.
    public init(_ title: String, _ alignment: Alignment = .leading, isWhole: Bool = false) {
      self.title = title
      self.alignment = alignment
      self.isWhole = isWhole || alignment == .trailing
    }
  }

  /// A cell of a row.
  public struct Cell: Sendable {
    /// The text, escaped and cut at 200 characters.
    public let text: String
    /// The attribute of the text; `nil` for plain text.
    public let attribute: Style.Attribute?

    /// Creates a cell.
    ///
    /// - Parameter text: Any text; it is escaped here.
    public init(_ text: String, _ attribute: Style.Attribute? = nil) {
      self.text = PlainText.escaped(text, limit: Table.cellLimit)
      self.attribute = attribute
    }
  }

  /// The maximum number of characters in a cell. Longer text is cut.
  static let cellLimit = 200
  /// The minimum width to which a column shrinks to fit a window.
  private static let narrowest = 8
  private static let gap = "  "

  /// The columns, from left to right.
  public let columns: [Column]
  private var rows: [[Cell]] = []

  /// Creates a table without rows.
  public init(columns: [Column]) {
    self.columns = columns
  }

  /// Whether there are no rows; the header does not count.
  public var isEmpty: Bool { rows.isEmpty }

  /// Adds a row. Missing cells are empty, and cells beyond the last column are not shown.
  public mutating func append(_ cells: [Cell]) {
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: Cell(""), count: missing))
  }

  /// Returns the header in bold and the rows, one line each, without trailing spaces.
  ///
  /// If a table of more than two columns is far too wide for a window, each row becomes a block of lines, with a
  /// title and a cell on each line. Cells that are never cut continue on further lines there.
  ///
  /// - Parameter width: The number of terminal columns. Leading-aligned text is cut with `…` to fit. `nil` (a pipe)
  ///   cuts nothing.
  public func rendered(width: Int? = nil, style: Style = .plain) -> [String] {
    let header = columns.map { Cell($0.title, .bold) }
    let widths = fittedWidths(of: [header] + rows, in: width)
    let gaps = Table.gap.count * max(0, columns.count - 1)
    if let width, columns.count > 2, widths.reduce(gaps, +) > width { return blocks(width: width, style: style) }
    return ([header] + rows).map { line(of: $0, widths: widths, style: style) }
  }

  private func fittedWidths(of lines: [[Cell]], in width: Int?) -> [Int] {
    var widths = columns.indices.map { index in lines.map { DisplayWidth.of($0[index].text) }.max() ?? 0 }
    guard let width else { return widths }
    let gaps = Table.gap.count * max(0, columns.count - 1)
    var excess = widths.reduce(gaps, +) - width
    // Numbers cut short would lie, so only columns of text shrink, the widest first.
    while excess > 0,
      let widest = columns.indices
        .filter({ !columns[$0].isWhole && widths[$0] > Table.narrowest })
        .max(by: { widths[$0] < widths[$1] })
    {
      widths[widest] -= 1
      excess -= 1
    }
    return widths
  }

  /// Returns each row as a block of lines, without empty cells.
  private func blocks(width: Int, style: Style) -> [String] {
    let titles = columns.map { DisplayWidth.of($0.title) }.max() ?? 0
    let room = max(1, width - titles - Table.gap.count)
    let blocks = rows.map { cells in
      columns.indices.filter { !cells[$0].text.isEmpty }.flatMap { index in
        lines(of: cells[index], below: columns[index], titles: titles, room: room, style: style)
      }
    }
    return Array(blocks.joined(separator: [""]))
  }

  /// Returns the lines of a cell in a block. The first one begins with the column's title.
  private func lines(of cell: Cell, below column: Column, titles: Int, room: Int, style: Style) -> [String] {
    let texts =
      column.isWhole
      ? TextLine(cell.text).wrapped(to: room).map(\.text) : [DisplayWidth.truncated(cell.text, to: room)]
    let padding = String(repeating: " ", count: titles - DisplayWidth.of(column.title)) + Table.gap
    let indent = String(repeating: " ", count: titles) + Table.gap
    return texts.enumerated().map { number, text in
      let start = number == 0 ? style.bold(column.title) + padding : indent
      return start + (cell.attribute.map { style.applying($0, to: text) } ?? text)
    }
  }

  private func line(of cells: [Cell], widths: [Int], style: Style) -> String {
    var line = ""
    // Spaces are written when something follows them, so that no line ends in spaces.
    var owed = 0
    for (index, cell) in cells.enumerated() {
      if index > 0 { owed += Table.gap.count }
      let text = DisplayWidth.truncated(cell.text, to: widths[index])
      let padding = widths[index] - DisplayWidth.of(text)
      if columns[index].alignment == .trailing { owed += padding }
      if !text.isEmpty {
        line += String(repeating: " ", count: owed)
        owed = 0
        line += cell.attribute.map { style.applying($0, to: text) } ?? text
      }
      if columns[index].alignment == .leading { owed += padding }
    }
    return line
  }
}
