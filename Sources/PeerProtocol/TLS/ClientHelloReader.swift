/// Finds the ClientHello at the beginning of a connection, in however many TLS records and pieces it comes.
///
/// What it says depends on the bytes alone, not on where they were cut, and it keeps no more than `limit` of them.
public struct ClientHelloReader: Sendable {
  /// What is known of a connection by its first bytes.
  public enum Reading: Hashable, Sendable {
    /// More bytes are needed.
    case incomplete
    /// All of the ClientHello has come.
    case found(ClientHello)
    /// Something else than a ClientHello, or one that is longer than the limit.
    case other
  }

  /// As long as the messages are that TLS libraries take before they know who calls.
  public static let defaultLimit = 16 * 1024

  private enum Record {
    /// RFC 8446 section 5.1.
    static let headerLength = 5
    static let handshake: UInt8 = 22
    static let majorVersion: UInt8 = 3
    /// An empty fragment of a handshake message is not allowed.
    static let lengths = 1...16_384
  }

  private enum Message {
    static let headerLength = 4
    static let clientHello: UInt8 = 1
  }

  private let limit: Int
  private var received = 0
  /// Bytes of the current record's header.
  private var headerBytes = 0
  /// Bytes left of the current record's fragment; while its header is read, as far as the length is known.
  private var fragmentLeft = 0
  private var message: [UInt8] = []
  private var messageLength: Int?
  private var reading = Reading.incomplete

  /// - Parameter limit: bytes within which the ClientHello must have ended, with the headers of its records.
  public init(limit: Int = defaultLimit) {
    self.limit = limit
  }

  /// Bytes that are kept at the moment.
  public var bytesKept: Int { message.count }

  /// Takes the next bytes of the connection. Once it says something else than `incomplete`, it says so for ever.
  @discardableResult
  public mutating func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
    for byte in bytes {
      guard reading == .incomplete else { break }
      reading = read(byte)
    }
    // A ClientHello has what it needs of it.
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
    // The minor version says nothing: it is 1 or 3, whatever is offered.
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
