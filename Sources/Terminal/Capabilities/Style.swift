/// Bold, dim and coloured text where the terminal wants it, plain text elsewhere.
///
/// ```swift
/// let style = Style(for: .error, of: .current())
/// try OutputWriter.standardError.writeLine(style.green("Paired") + " with studio")
/// ```
public struct Style: Sendable, Equatable {
  /// One way to set text apart.
  public enum Attribute: Sendable, Equatable, CaseIterable {
    /// Intensities and colours of ECMA-48; which shade a colour has, the terminal decides.
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

    /// The parameter that ends this attribute alone, so that an enclosing one survives where the two differ.
    var offCode: Int {
      switch self {
      case .bold, .dim: 22
      case .red, .green, .yellow: 39
      }
    }
  }

  /// Leaves every text as it is.
  public static let plain = Style(isEnabled: false)

  /// Whether anything but plain text comes out.
  public let isEnabled: Bool

  /// For tests, and where something else than a terminal decides.
  public init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  /// The style that fits `stream`.
  public init(for stream: StandardStream, of capabilities: TerminalCapabilities) {
    isEnabled = capabilities.allowsColor(on: stream)
  }

  /// The text between the sequences that begin and end the attribute; unchanged if it is empty or the style is plain.
  ///
  /// - Parameter text: may hold styled text already, and must hold no other escape sequences: see ``PlainText``.
  public func applying(_ attribute: Attribute, to text: String) -> String {
    guard isEnabled, !text.isEmpty else { return text }
    let on = "\u{1b}[\(attribute.onCode)m"
    let off = "\u{1b}[\(attribute.offCode)m"
    // Bold and dim share one "off", as do the colours: an inner one that ends must not end this one too.
    return on + text.replacing(off, with: off + on) + off
  }

  /// For what a line is about, such as the header of a ``Table``.
  public func bold(_ text: String) -> String { applying(.bold, to: text) }
  /// For secondary text, which may be overlooked.
  public func dim(_ text: String) -> String { applying(.dim, to: text) }
  /// For errors: what stands in the way.
  public func red(_ text: String) -> String { applying(.red, to: text) }
  /// For success: what is as it should be.
  public func green(_ text: String) -> String { applying(.green, to: text) }
  /// For warnings: what wants attention.
  public func yellow(_ text: String) -> String { applying(.yellow, to: text) }
}
