/// A text style that adds bold, dim and colour where the terminal supports them, and leaves text plain elsewhere.
///
/// ```swift
/// let style = Style(for: .error, of: .current())
/// try OutputWriter.standardError.writeLine(style.green("Paired") + " with studio")
/// ```
public struct Style: Sendable, Equatable {
  /// An attribute of text on a terminal.
  public enum Attribute: Sendable, Equatable, CaseIterable {
    /// An intensity or a colour of ECMA-48. The terminal chooses the shade.
    case bold, dim, red, green, yellow

    /// The SGR parameter that switches the attribute on (ECMA-48 section 8.3.117).
    var onCode: Int {
      switch self {
      case .bold: 1
      case .dim: 2
      case .red: 31
      case .green: 32
      case .yellow: 33
      }
    }

    /// The SGR parameter that switches this attribute off. An enclosing attribute with another off code stays on.
    var offCode: Int {
      switch self {
      case .bold, .dim: 22
      case .red, .green, .yellow: 39
      }
    }
  }

  /// A style that leaves text unchanged.
  public static let plain = Style(isEnabled: false)

  /// Whether the style adds escape sequences to text.
  public let isEnabled: Bool

  /// Creates a style without looking at a terminal, for example for tests.
  public init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  /// Creates the style that fits a stream.
  public init(for stream: StandardStream, of capabilities: TerminalCapabilities) {
    isEnabled = capabilities.allowsColor(on: stream)
  }

  /// Returns the text between the sequences that begin and end the attribute. Empty text and text in a plain style
  /// are unchanged.
  ///
  /// - Parameter text: Text that may already be styled but must hold no other escape sequences; see ``PlainText``.
  public func applying(_ attribute: Attribute, to text: String) -> String {
    guard isEnabled, !text.isEmpty else { return text }
    let on = "\u{1b}[\(attribute.onCode)m"
    let off = "\u{1b}[\(attribute.offCode)m"
    // Bold and dim share one off code, and so do the colours. An inner attribute that ends must not end this one.
    return on + text.replacing(off, with: off + on) + off
  }

  /// Returns bold text, for the subject of a line, such as the header of a ``Table``.
  public func bold(_ text: String) -> String { applying(.bold, to: text) }
  /// Returns dim text, for secondary information.
  public func dim(_ text: String) -> String { applying(.dim, to: text) }
  /// Returns red text, for errors.
  public func red(_ text: String) -> String { applying(.red, to: text) }
  /// Returns green text, for success.
  public func green(_ text: String) -> String { applying(.green, to: text) }
  /// Returns yellow text, for warnings.
  public func yellow(_ text: String) -> String { applying(.yellow, to: text) }
}
