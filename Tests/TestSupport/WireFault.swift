/// A fault that occurs once, at a single byte of one direction of a connection.
public struct WireFault: Hashable, Sendable, CustomStringConvertible {
  public enum Direction: String, CaseIterable, Sendable {
    case toClient
    case toServer
  }

  public enum Kind: Hashable, Sendable {
    /// A close of the connection: both sides see the other end it (FIN).
    case close
    /// A reset of the connection, seen by both sides (RST).
    case reset
    /// A byte with the mask's bits flipped.
    case corrupt(mask: UInt8)
    /// A connection that delivers nothing more, without telling either side.
    case stall
    /// A pause of this many milliseconds before the rest arrives.
    case pause(milliseconds: Int)
    /// A segment, the one that contains the byte, that arrives twice.
    case duplicate
  }

  public var kind: Kind
  public var direction: Direction
  /// The byte at which the fault occurs, counted from 0 over all connections.
  public var offset: Int

  public init(_ kind: Kind, _ direction: Direction, at offset: Int) {
    self.kind = kind
    self.direction = direction
    self.offset = offset
  }

  /// Whether an exchange must succeed despite the fault.
  public var isHarmless: Bool {
    if case .pause = kind { true } else { false }
  }

  public var description: String { "\(kind) \(direction.rawValue) at byte \(offset)" }

  /// Returns a random fault, anywhere in an exchange with the given number of bytes in each direction.
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

/// The segment sizes in which a relay forwards bytes.
public enum WireSegments: Hashable, Sendable {
  case asTheyCome
  case single
  /// Random sizes from 1 to 1,400 bytes.
  case odd(seed: UInt64)
}
