extension QRCode {
  /// How a code is drawn with characters.
  public enum RenderingStyle: Sendable, CaseIterable {
    /// Two modules a character (`▀▄█`), black on white whatever the terminal's own colours are.
    case halfBlocks
    /// Two spaces a module, painted black or white, for terminals without UTF-8.
    case painted

    /// The style for `stream`, whose colours are wanted even under `NO_COLOR`: they are the code, not decoration.
    /// `nil` where nothing can be painted: characters on a ground of unknown colour make a code that no scanner reads.
    public init?(for stream: StandardStream, of capabilities: TerminalCapabilities) {
      guard capabilities.allowsEscapeSequences(on: stream) else { return nil }
      self = capabilities.usesUTF8 ? .halfBlocks : .painted
    }
  }

  /// Light modules on each side, without which scanners do not find the code (ISO/IEC 18004 section 6.3.8).
  private static let quietZone = 4
  // Of the 256-colour palette, because its entries 16 (black) and 231 (white) are fixed, while themes repaint the
  // first sixteen, and because more terminals (tmux, screen, the Linux console) know it than know 24-bit colour.
  private static let blackOnWhite = "\u{1b}[38;5;16;48;5;231m"
  private static let onWhite = "\u{1b}[48;5;231m"
  private static let onBlack = "\u{1b}[48;5;16m"
  private static let reset = "\u{1b}[0m"

  private var side: Int { moduleCount + 2 * QRCode.quietZone }

  /// Terminal columns that ``rendered(style:)`` takes.
  public func columns(style: RenderingStyle) -> Int {
    switch style {
    case .halfBlocks: side
    case .painted: side * 2
    }
  }

  /// Terminal rows that ``rendered(style:)`` takes.
  public func rows(style: RenderingStyle) -> Int {
    switch style {
    case .halfBlocks: (side + 1) / 2
    case .painted: side
    }
  }

  /// The code with its quiet zone, one string a terminal row.
  public func rendered(style: RenderingStyle) -> [String] {
    let modules = -QRCode.quietZone..<moduleCount + QRCode.quietZone
    switch style {
    case .halfBlocks:
      return stride(from: modules.lowerBound, to: modules.upperBound, by: 2).map { row in
        let blocks = modules.map { column in
          switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
          case (false, false): " "
          case (true, false): "▀"
          case (false, true): "▄"
          case (true, true): "█"
          }
        }
        return QRCode.blackOnWhite + blocks.joined() + QRCode.reset
      }
    case .painted:
      return modules.map { row in
        var (line, isBlack) = (QRCode.onWhite, false)
        for column in modules {
          if isDark(row: row, column: column) != isBlack {
            isBlack.toggle()
            line += isBlack ? QRCode.onBlack : QRCode.onWhite
          }
          line += "  "
        }
        return line + QRCode.reset
      }
    }
  }
}
