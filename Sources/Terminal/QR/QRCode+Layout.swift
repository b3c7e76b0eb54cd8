extension QRCode {
  private static let gap = "  "
  /// The minimum width of text beside a code, in columns. Narrower text would be broken too often to read.
  private static let narrowestText = 24
  /// The height of the code's upper margin, in rows. The text begins below it, level with the pattern.
  private static let rowsAboveText = 2

  /// Returns the code with `text` beside it, or below it if the window is too narrow for that and high enough; `nil`
  /// if neither fits.
  ///
  /// - Parameter textStyle: The style of the text.
  public func rendered(
    with text: [TextLine], in size: TerminalSize, style: RenderingStyle, textStyle: Style
  ) -> [String]? {
    // The last column stays free: some terminals wrap when it is written to.
    let room = size.columns - 1 - columns(style: style) - QRCode.gap.count
    if room >= QRCode.narrowestText {
      let lines = text.flatMap { $0.wrapped(to: room) }
      if max(rows(style: style), lines.count + QRCode.rowsAboveText) <= size.rows {
        return beside(lines.map { $0.painted(textStyle) }, style: style)
      }
    }
    let lines = text.flatMap { $0.wrapped(to: size.columns - 1) }
    guard columns(style: style) <= size.columns, rows(style: style) + lines.count <= size.rows else { return nil }
    return rendered(style: style) + lines.map { $0.painted(textStyle) }
  }

  private func beside(_ text: [String], style: RenderingStyle) -> [String] {
    let code = rendered(style: style)
    let empty = String(repeating: " ", count: columns(style: style))
    let lines = Array(repeating: "", count: QRCode.rowsAboveText) + text
    return (0..<max(code.count, lines.count)).map { row in
      let left = row < code.count ? code[row] : empty
      let right = row < lines.count ? lines[row] : ""
      return right.isEmpty ? left : left + QRCode.gap + right
    }
  }
}
