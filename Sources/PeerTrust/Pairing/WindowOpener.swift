/// Who opened a pairing window, always somebody at the server itself.
public enum WindowOpener: Hashable, Sendable {
  /// The terminal on which the server runs.
  case terminal
  /// A process of the server's owner, by its number: `hpeer pair --wait`. Its window closes when it ends.
  case process(Int32)

  /// Nil for the server's own terminal.
  public var process: Int32? {
    if case .process(let number) = self { number } else { nil }
  }
}
