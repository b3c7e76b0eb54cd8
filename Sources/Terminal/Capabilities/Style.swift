/// Bold, dim and coloured text where the terminal wants it, plain text elsewhere.
///
///     let style = Style(for: .error, of: .current())
///     try OutputWriter.standardError.writeLine(style.green("Paired") + " with studio")
public struct Style: Sendable, Equatable {
  /// One way to set text apart.
  public enum Attribute: Sendable, Equatable, CaseIterable {
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

  public let isEnabled: Bool

  public init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  /// The style that fits `stream`.
  public init(for stream: StandardStream, of capabilities: TerminalCapabilities) {
    isEnabled = capabilities.allowsColor(on: stream)
  }

  public func applying(_ attribute: Attribute, to text: String) -> String {
    guard isEnabled, !text.isEmpty else { return text }
    let on = "\u{1b}[\(attribute.onCode)m"
    let off = "\u{1b}[\(attribute.offCode)m"
    // Bold and dim share one "off", as do the colours: an inner one that ends must not end this one too.
    return on + text.replacing(off, with: off + on) + off
  }

  public func bold(_ text: String) -> String { applying(.bold, to: text) }
  public func dim(_ text: String) -> String { applying(.dim, to: text) }
  public func red(_ text: String) -> String { applying(.red, to: text) }
  public func green(_ text: String) -> String { applying(.green, to: text) }
  public func yellow(_ text: String) -> String { applying(.yellow, to: text) }
}
