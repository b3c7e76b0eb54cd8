/// A reader that finds the ClientHello at the beginning of a connection, regardless of how it is divided into TLS
/// records and reads.
///
/// The result depends only on the bytes, not on how they were divided. The reader keeps at most `limit` bytes.
public struct ClientHelloReader: Sendable {
  /// The state of the reader.
  public enum Reading: Hashable, Sendable {
    /// More bytes are needed.
    case incomplete
    /// The ClientHello is complete.
    case found(ClientHello)
    /// The bytes are not a ClientHello, or it is longer than the limit.
    case other
  }

  /// The default limit in bytes, similar to what TLS libraries accept from an unauthenticated client.
  public static let defaultLimit = 16 * 1024

  private enum Record {
    /// The length of a record header (RFC 8446 section 5.1).
    static let headerLength = 5
    static let handshake: UInt8 = 22
    static let majorVersion: UInt8 = 3
    /// The allowed fragment lengths. A handshake message must not have an empty fragment.
    static let lengths = 1...16_384
  }

  private enum Message {
    static let headerLength = 4
    static let clientHello: UInt8 = 1
  }

  private let limit: Int
  private var received = 0
  /// The number of header bytes read of the current record.
  private var headerBytes = 0
  /// The bytes left in the current record's fragment; while the header is read, the part of the length known so far.
  private var fragmentLeft = 0
  private var message: [UInt8] = []
  private var messageLength: Int?
  private var reading = Reading.incomplete

  /// - Parameter limit: the maximum bytes up to the end of the ClientHello, including record headers.
  public init(limit: Int = defaultLimit) {
    self.limit = limit
  }

  /// The number of bytes kept now.
  public var bytesKept: Int { message.count }

  /// Reads the next bytes of the connection. A result other than `incomplete` is final.
  @discardableResult
  public mutating func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
    for byte in bytes {
      guard reading == .incomplete else { break }
      reading = read(byte)
    }
    // The parsed ClientHello keeps its own copy.
    if reading != .incomplete { message = [] }
    return reading
  }

  private mutating func read(_ byte: UInt8) -> Reading {
    received += 1
    guard received <= limit else { return .other }
    if headerBytes < Record.headerLength {
      headerBytes += 1
      return continuesHeader(byte) ? .incomplete : .other
    }
    fragmentLeft -= 1
    if fragmentLeft == 0 { headerBytes = 0 }
    return readMessage(byte)
  }

  private mutating func continuesHeader(_ byte: UInt8) -> Bool {
    switch headerBytes {
    case 1: return byte == Record.handshake
    case 2: return byte == Record.majorVersion
    // The minor version carries no information: it is 1 or 3 for every offered version.
    case 3: return true
    case 4:
      fragmentLeft = Int(byte) << 8
      return true
    default:
      fragmentLeft |= Int(byte)
      return Record.lengths.contains(fragmentLeft)
    }
  }

  private mutating func readMessage(_ byte: UInt8) -> Reading {
    message.append(byte)
    if message.count == 1, byte != Message.clientHello { return .other }
    if message.count == Message.headerLength {
      let length = message.dropFirst().reduce(0) { $0 << 8 | Int($1) }
      guard length <= limit - Record.headerLength - Message.headerLength else { return .other }
      messageLength = Message.headerLength + length
    }
    guard message.count == messageLength else { return .incomplete }
    return ClientHello(message: message.dropFirst(Message.headerLength)).map(Reading.found) ?? .other
  }
}
