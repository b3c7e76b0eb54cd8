import Glibc

/// The size of a terminal in character cells.
public struct TerminalSize: Sendable, Equatable {
  /// The number of cells in a row; at least 1.
  public var columns: Int
  /// The number of rows; at least 1.
  public var rows: Int

  /// The size that is assumed if neither a window nor the environment gives one: 80 columns by 24 rows.
  public static let fallback = TerminalSize(columns: 80, rows: 24)

  /// Creates a size.
  ///
  /// - Precondition: Both numbers are at least 1. Not checked.
  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// Returns the window size of the first stream that is a terminal with a known size, or `nil` if there is none. A
  /// serial line or a container's terminal reports 0 by 0.
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

  /// Returns the window's size; without a window, `COLUMNS` and `LINES` if they are sane numbers; else ``fallback``.
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
