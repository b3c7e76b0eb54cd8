import Glibc

/// The size of a terminal in character cells.
public struct TerminalSize: Sendable, Equatable {
  /// Cells in a row; at least 1.
  public var columns: Int
  /// Rows; at least 1.
  public var rows: Int

  /// What is assumed when nobody says otherwise: 80 columns by 24 rows.
  public static let fallback = TerminalSize(columns: 80, rows: 24)

  /// - Precondition: both are at least 1. Not checked.
  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// The size the kernel knows for the first of `streams` that is a terminal, or `nil` when none is one or its size is
  /// unknown (a serial line or a container's terminal reports 0 by 0).
  public static func ofWindow(of streams: [StandardStream] = [.error, .output, .input]) -> TerminalSize? {
    for stream in streams {
      var window = winsize()
      guard ioctl(stream.rawValue, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
        continue
      }
      return TerminalSize(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }
    return nil
  }

  /// The window's size if there is one; else `COLUMNS` and `LINES` where they are sane numbers; else ``fallback``.
  static func resolved(window: TerminalSize?, environment: [String: String]) -> TerminalSize {
    if let window { return window }
    func number(_ name: String) -> Int? {
      environment[name].flatMap { Int($0) }.flatMap { (1...10_000).contains($0) ? $0 : nil }
    }
    return TerminalSize(
      columns: number("COLUMNS") ?? fallback.columns,
      rows: number("LINES") ?? fallback.rows)
  }
}
