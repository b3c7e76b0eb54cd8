/// A TLS ClientHello in wire format, with fields that a test can change.
public struct ClientHelloBytes {
  /// The protocols offered by ALPN, or `nil` for no ALPN extension.
  public var protocols: [String]?
  /// The number of bytes in a padding extension (RFC 7685), or `nil` for no such extension.
  public var padding: Int?
  public var session: [UInt8] = []
  public var cipherSuites: [UInt8] = [0x13, 0x01, 0xC0, 0x2B]
  public var hasExtensions = true

  public init(protocols: [String]? = nil, padding: Int? = nil) {
    self.protocols = protocols
    self.padding = padding
  }

  /// The handshake message, including its type and length.
  public var message: [UInt8] {
    var body: [UInt8] = [3, 3] + (0..<32).map { $0 }
    body += Self.vector(session, lengthBytes: 1) + Self.vector(cipherSuites, lengthBytes: 2)
    body += Self.vector([0], lengthBytes: 1)
    if hasExtensions { body += Self.vector(extensions, lengthBytes: 2) }
    return [1] + Self.vector(body, lengthBytes: 3)
  }

  private var extensions: [UInt8] {
    // supported_versions
    var extensions: [UInt8] = [0, 43] + Self.vector([2, 3, 4], lengthBytes: 2)
    if let padding { extensions += [0, 21] + Self.vector([UInt8](repeating: 0, count: padding), lengthBytes: 2) }
    if let protocols {
      let names = protocols.flatMap { Self.vector(Array($0.utf8), lengthBytes: 1) }
      extensions += [0, 16] + Self.vector(Self.vector(names, lengthBytes: 2), lengthBytes: 2)
    }
    return extensions
  }

  /// Splits a message into TLS records of at most `length` bytes each.
  public static func records(_ message: [UInt8], of length: Int = 16_384) -> [UInt8] {
    stride(from: 0, to: message.count, by: length).flatMap { start in
      [22, 3, 1] + vector(Array(message[start..<min(start + length, message.count)]), lengthBytes: 2)
    }
  }

  private static func vector(_ bytes: [UInt8], lengthBytes: Int) -> [UInt8] {
    (0..<lengthBytes).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
  }
}
