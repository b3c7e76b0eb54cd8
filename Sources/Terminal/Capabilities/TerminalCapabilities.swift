import Foundation
import Glibc

/// What the process's streams can show: a value taken once, so that a test can make any terminal it likes.
public struct TerminalCapabilities: Sendable, Equatable {
  /// The streams that are terminals.
  public let terminals: Set<StandardStream>
  /// The size of the window, or the best guess (see ``TerminalSize/fallback``).
  public let size: TerminalSize
  /// Whether the locale's character encoding is UTF-8 (`LC_ALL`, then `LC_CTYPE`, then `LANG`).
  public let usesUTF8: Bool

  private let refusesColor: Bool
  private let isDumb: Bool

  /// Capabilities derived from `environment` and from what the two closures say.
  ///
  /// - `NO_COLOR` counts when it is set to anything but the empty string (no-color.org).
  /// - `TERM` unset, empty or `dumb` means a terminal that understands no escape sequences.
  public init(
    environment: [String: String],
    isTerminal: (StandardStream) -> Bool,
    windowSize: () -> TerminalSize?
  ) {
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    terminals = Set(StandardStream.allCases.filter(isTerminal))
    size = .resolved(window: windowSize(), environment: environment)
    let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "").lowercased()
    usesUTF8 = locale.contains("utf-8") || locale.contains("utf8")
    refusesColor = value("NO_COLOR") != nil
    isDumb = value("TERM").map { $0 == "dumb" } ?? true
  }

  /// The capabilities of this process's own streams and environment, now.
  public static func current() -> TerminalCapabilities {
    TerminalCapabilities(
      environment: ProcessInfo.processInfo.environment,
      isTerminal: { isatty($0.rawValue) == 1 },
      windowSize: { TerminalSize.ofWindow() })
  }

  /// Whether a person may be looking at it: false for a pipe and a file.
  public func isTerminal(_ stream: StandardStream) -> Bool {
    terminals.contains(stream)
  }

  /// Whether escape sequences (moving the cursor, erasing, painting a QR code) may be written to `stream`.
  public func allowsEscapeSequences(on stream: StandardStream) -> Bool {
    isTerminal(stream) && !isDumb
  }

  /// Whether text on `stream` may be coloured: escape sequences work and the person did not set `NO_COLOR`.
  public func allowsColor(on stream: StandardStream) -> Bool {
    allowsEscapeSequences(on: stream) && !refusesColor
  }
}
