/// What goes wrong on a wire: once, at one byte of one direction.
public struct WireFault: Hashable, Sendable, CustomStringConvertible {
  public enum Direction: String, CaseIterable, Sendable {
    case toClient
    case toServer
  }

  public enum Kind: Hashable, Sendable {
    /// Both sides are told that the other has ended (FIN).
    case close
    /// Both sides are thrown out (RST).
    case reset
    /// The byte arrives with other bits.
    case corrupt(mask: UInt8)
    /// Nothing more arrives, and nobody is told.
    case stall
    /// The rest comes this many milliseconds later.
    case pause(milliseconds: Int)
    /// The segment with the byte arrives twice.
    case duplicate
  }

  public var kind: Kind
  public var direction: Direction
  /// The byte at which it happens, counted from 0 over all connections.
  public var offset: Int

  public init(_ kind: Kind, _ direction: Direction, at offset: Int) {
    self.kind = kind
    self.direction = direction
    self.offset = offset
  }

  /// Whether a conversation must not suffer from it.
  public var isHarmless: Bool {
    if case .pause = kind { true } else { false }
  }

  public var description: String { "\(kind) \(direction.rawValue) at byte \(offset)" }

  /// Any of them, anywhere in a conversation of that many bytes in each direction.
  public static func random(
    in lengths: [Direction: Int], using generator: inout SeededGenerator
  ) -> WireFault {
    let kinds: [Kind] = [
      .close, .reset, .corrupt(mask: 1 << UInt8.random(in: 0..<8, using: &generator)),
      .corrupt(mask: UInt8.random(in: 1...255, using: &generator)), .stall,
      .pause(milliseconds: Int.random(in: 1...150, using: &generator)), .duplicate,
    ]
    let kind = generator.pick(kinds)
    let direction = generator.pick(Direction.allCases)
    let length = max(lengths[direction] ?? 0, 1)
    // The handshake and the last bytes are short, and as good a place as the long middle.
    let offset =
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: Int.random(in: 0..<min(length, 2_000), using: &generator)
      case 1: length - 1 - Int.random(in: 0..<min(length, 200), using: &generator)
      default: Int.random(in: 0..<length, using: &generator)
      }
    return WireFault(kind, direction, at: offset)
  }
}

/// The pieces in which a wire hands bytes on.
public enum WireSegments: Hashable, Sendable {
  case asTheyCome
  case single
  /// From 1 to 1,400 bytes.
  case odd(seed: UInt64)
}
