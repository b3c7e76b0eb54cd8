extension QRCode {
  /// A way to draw a code with characters.
  public enum RenderingStyle: Sendable, CaseIterable {
    /// Two modules per character (`▀▄█`), black on white whatever the terminal's own colours are.
    case halfBlocks
    /// Two spaces per module, painted black or white, for terminals without UTF-8.
    case painted

    /// Creates the style for a stream, or `nil` if escape sequences cannot be written to it.
    ///
    /// Colours are used even under `NO_COLOR`: they are the code, not decoration. Characters on a background of
    /// unknown colour make a code that no scanner reads.
    public init?(for stream: StandardStream, of capabilities: TerminalCapabilities) {
      guard capabilities.allowsEscapeSequences(on: stream) else { return nil }
      self = capabilities.usesUTF8 ? .halfBlocks : .painted
    }
  }

  /// The number of light modules on each side. Without them scanners do not find the code (ISO/IEC 18004 section
  /// 6.3.8).
  private static let quietZone = 4
  // Colours of the 256-colour palette: its entries 16 (black) and 231 (white) are fixed, while themes repaint the
  // first sixteen, and more terminals (tmux, screen, the Linux console) know it than know 24-bit colour.
  private static let blackOnWhite = "\u{1b}[38;5;16;48;5;231m"
  private static let onWhite = "\u{1b}[48;5;231m"
  private static let onBlack = "\u{1b}[48;5;16m"
  private static let reset = "\u{1b}[0m"

  private var side: Int { moduleCount + 2 * QRCode.quietZone }

  /// Returns the number of terminal columns that ``rendered(style:)`` takes.
  public func columns(style: RenderingStyle) -> Int {
    switch style {
    case .halfBlocks: side
    case .painted: side * 2
    }
  }

  /// Returns the number of terminal rows that ``rendered(style:)`` takes.
  public func rows(style: RenderingStyle) -> Int {
    switch style {
    case .halfBlocks: (side + 1) / 2
    case .painted: side
    }
  }

  /// Returns the code with its quiet zone, one string per terminal row.
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
