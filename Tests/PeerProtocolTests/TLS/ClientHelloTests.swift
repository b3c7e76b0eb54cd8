import PeerProtocol
import TestSupport
import Testing

@Suite("The ClientHello at the beginning of a connection")
struct ClientHelloTests {
  /// Returns the result of reading `bytes` in pieces of `length`, and the number of bytes consumed.
  private static func read(
    _ bytes: [UInt8], inPiecesOf length: Int = .max, limit: Int = ClientHelloReader.defaultLimit
  ) -> (reading: ClientHelloReader.Reading, taken: Int) {
    var reader = ClientHelloReader(limit: limit)
    var position = 0
    while position < bytes.count {
      let piece = Array(bytes[position...].prefix(length))
      let reading = piece.withUnsafeBytes { reader.read($0) }
      position += piece.count
      if reading != .incomplete {
        #expect(reader.bytesKept == 0)
        return (reading, position)
      }
      #expect(reader.bytesKept <= limit)
    }
    return (.incomplete, position)
  }

  private static func hello(_ bytes: [UInt8]) -> ClientHello? {
    guard case .found(let hello) = read(bytes).reading else { return nil }
    return hello
  }

  @Test("the protocols that are offered, and no others, parts or cases of them")
  func protocols() throws {
    let hello = try #require(
      Self.hello(ClientHelloBytes.records(ClientHelloBytes(protocols: ["h2", "hpeer/1", "http/1.1"]).message)))
    for name in ["h2", "hpeer/1", "http/1.1"] { #expect(hello.offers(name)) }
    for name in ["", "h", "hpeer/", "hpeer/10", "HPEER/1", "/1\u{8}http/1.1"] { #expect(!hello.offers(name)) }
  }

  @Test("no extension, other extensions, and the shortest hello of TLS 1.2 offer nothing")
  func nothingOffered() throws {
    var short = ClientHelloBytes()
    short.hasExtensions = false
    for bytes in [ClientHelloBytes(), ClientHelloBytes(padding: 300), short] {
      let hello = try #require(Self.hello(ClientHelloBytes.records(bytes.message)))
      #expect(!hello.offers("hpeer/1") && !hello.offers(""))
    }
  }

  @Test("records and pieces of any size say the same", arguments: [1, 2, 3, 5, 6, 64, 300])
  func division(record: Int) {
    let message = ClientHelloBytes(protocols: ["hpeer/1"], padding: 200).message
    let whole = Self.read(ClientHelloBytes.records(message)).reading
    let divided = ClientHelloBytes.records(message, of: record)
    for piece in [1, 2, 4, 5, 6, 7, 100, .max] {
      let read = Self.read(divided, inPiecesOf: piece)
      #expect(read.reading == whole, "records of \(record), pieces of \(piece)")
    }
    // Neither too early nor later than it must be.
    for end in 0..<divided.count { #expect(Self.read(Array(divided[..<end])).reading == .incomplete) }
    #expect(Self.read(divided + [0xFF, 0xFF], inPiecesOf: 1).taken == divided.count)
  }

  @Test("as long as the limit is taken, one byte more is not; what claims to be is not waited for")
  func limit() {
    let message = ClientHelloBytes(protocols: ["hpeer/1"], padding: 100).message
    let bytes = ClientHelloBytes.records(message)
    for piece in [1, Int.max] {
      #expect(Self.read(bytes, inPiecesOf: piece, limit: bytes.count).reading != .other)
      #expect(Self.read(bytes, inPiecesOf: piece, limit: bytes.count - 1).reading == .other)
    }
    // The length of the message is known with its fourth byte.
    #expect(Self.read(bytes, inPiecesOf: 1, limit: bytes.count - 1).taken == 9)
    // Records cost their headers.
    let divided = ClientHelloBytes.records(message, of: 1)
    #expect(Self.read(divided, limit: divided.count).reading != .other)
    #expect(Self.read(divided, limit: divided.count - 1).reading == .other)
    #expect(Self.read(ClientHelloBytes.records(ClientHelloBytes(padding: 16_400).message)).reading == .other)
    #expect(Self.read([22, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF]).reading == .other)
  }

  @Test(
    "what is no ClientHello is known at once",
    arguments: [
      ("HTTP", Array("GET / HTTP/1.1\r\n".utf8), 1), ("SSL 2", [0x80, 0x2E, 1, 0, 2], 1),
      ("an alert", [21, 3, 1, 0, 2, 2, 40], 1), ("version 4", [22, 4, 0], 2), ("an empty record", [22, 3, 1, 0, 0], 5),
      ("a record that is too long", [22, 3, 1, 0x40, 1], 5), ("a ServerHello", [22, 3, 3, 0, 40, 2], 6),
      ("a record of another kind in the middle", [22, 3, 1, 0, 2, 1, 0, 23, 3], 8),
    ] as [(String, [UInt8], Int)])
  func otherBytes(what: String, bytes: [UInt8], known: Int) {
    let read = Self.read(bytes, inPiecesOf: 1)
    #expect(read.reading == .other && read.taken == known, "\(what)")
  }

  @Test("lengths that do not fit, and lists that may not be empty, are refused")
  func malformed() {
    let good = ClientHelloBytes(protocols: ["hpeer/1"]).message
    func isRefused(_ change: (inout [UInt8]) -> Void) -> Bool {
      var message = good
      change(&message)
      return Self.read(ClientHelloBytes.records(message)).reading == .other
    }
    #expect(!isRefused { _ in })
    // After type, length, version and random: no session, two cipher suites, one compression, extensions.
    #expect(isRefused { $0[38] = 33 })
    #expect(isRefused { $0[40] = 3 })
    #expect(isRefused { $0[45] = 0 })
    #expect(isRefused { $0[48] += 1 })
    #expect(isRefused { $0[48] -= 1 })
    let name = good.count - 8
    // The name, the list of names, the extension.
    for length in [name, name - 1, name - 3] {
      #expect(isRefused { $0[length] += 1 })
      #expect(isRefused { $0[length] -= 1 })
    }
    #expect(isRefused { $0[name] = 0 })
    #expect(Self.read(ClientHelloBytes.records(ClientHelloBytes(protocols: []).message)).reading == .other)
    #expect(
      Self.read(ClientHelloBytes.records(ClientHelloBytes(protocols: ["hpeer/1", ""]).message)).reading == .other)
    var session = ClientHelloBytes()
    session.session = [UInt8](repeating: 7, count: 32)
    #expect(Self.hello(ClientHelloBytes.records(session.message)) != nil)
    session.session.append(7)
    #expect(Self.read(ClientHelloBytes.records(session.message)).reading == .other)
  }

  @Test("the extension twice is refused")
  func twice() {
    var message = ClientHelloBytes(protocols: ["hpeer/1"]).message
    let negotiation = Array(message.suffix(14))
    #expect(negotiation.prefix(2) == [0, 16])
    message += negotiation
    message[3] += 14
    message[48] += 14
    #expect(Self.read(ClientHelloBytes.records(message)).reading == .other)
  }
}
