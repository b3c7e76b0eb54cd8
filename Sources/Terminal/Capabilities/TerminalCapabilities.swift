import Foundation
import Glibc

/// A snapshot of what the process's standard streams can show. Tests can create any combination.
public struct TerminalCapabilities: Sendable, Equatable {
  /// The streams that are terminals.
  public let terminals: Set<StandardStream>
  /// The size of the window, or the best guess (see ``TerminalSize/fallback``).
  public let size: TerminalSize
  /// Whether the locale's character encoding is UTF-8 (`LC_ALL`, then `LC_CTYPE`, then `LANG`).
  public let usesUTF8: Bool

  private let refusesColor: Bool
  private let isDumb: Bool

  /// Creates capabilities from an environment and from the results of the two closures.
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

  /// Returns the current capabilities of this process's own streams and environment.
  public static func current() -> TerminalCapabilities {
    TerminalCapabilities(
      environment: ProcessInfo.processInfo.environment,
      isTerminal: { isatty($0.rawValue) == 1 },
      windowSize: { TerminalSize.ofWindow() })
  }

  /// Returns whether a stream is a terminal, and not a pipe or a file.
  public func isTerminal(_ stream: StandardStream) -> Bool {
    terminals.contains(stream)
  }

  /// Returns whether escape sequences (moving the cursor, erasing, painting a QR code) may be written to a stream.
  public func allowsEscapeSequences(on stream: StandardStream) -> Bool {
    isTerminal(stream) && !isDumb
  }

  /// Returns whether text on a stream may be coloured: escape sequences work and `NO_COLOR` is not set.
  public func allowsColor(on stream: StandardStream) -> Bool {
    allowsEscapeSequences(on: stream) && !refusesColor
  }
}
