import PeerProtocol

extension FuzzTarget {
  /// Fuzzes the ClientHello reader. The first byte seeds the lengths of the pieces in which the rest arrives. Its
  /// lowest bit determines whether the rest is a message, which is put into records, or the records themselves.
  @Sendable static func clientHello(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let limit = 1024
    let rest = Array(input.dropFirst())
    let stream = seed & 1 == 1 ? records(rest, of: 1 + Int(seed >> 1)) : rest
    let whole = reading(stream, limit: limit, pieces: nil)
    require(whole == reading(stream, limit: limit, pieces: seed), "the same in other pieces: \(stream)")
    require(whole == reading(stream, limit: limit, pieces: 0), "the same byte by byte: \(stream)")
    require(whole == expected(stream, limit: limit), "the same as of the joined records: \(whole), \(stream)")
    guard case .found(let hello) = whole else { return }
    require(!hello.offers(""), "no protocol is nameless: \(stream)")
    let name = Array("hpeer/1".utf8)
    let isWritten = contains(joined(stream), [UInt8(name.count)] + name)
    require(!hello.offers("hpeer/1") || isWritten, "nothing is offered that is not there: \(stream)")
  }

  /// - Parameter pieces: The seed for the lengths of the pieces, `nil` for all bytes at once, or 0 for single bytes.
  private static func reading(_ stream: [UInt8], limit: Int, pieces: UInt8?) -> ClientHelloReader.Reading {
    var reader = ClientHelloReader(limit: limit)
    var state = UInt32(pieces ?? 0)
    var position = 0
    while position < stream.count {
      state = state &* 1_664_525 &+ 1_013_904_223
      let length =
        switch pieces {
        case nil: stream.count
        case 0?: 1
        default: Int(state >> 16) % 40
        }
      let piece = Array(stream[position...].prefix(length))
      let reading = piece.withUnsafeBytes { reader.read($0) }
      position += piece.count
      require(reader.bytesKept <= min(position, limit), "\(reader.bytesKept) bytes are kept of \(position)")
      guard reading == .incomplete else {
        require(reader.bytesKept == 0, "nothing is kept of what was read")
        require([UInt8(0xFF)].withUnsafeBytes { reader.read($0) } == reading, "an answer is final")
        return reading
      }
      require(position <= limit, "\(position) bytes are waited for")
    }
    return .incomplete
  }

  /// Returns the result that the standard requires, computed from all bytes at once: the records' contents are joined
  /// and start with the message.
  private static func expected(_ stream: [UInt8], limit: Int) -> ClientHelloReader.Reading {
    var message: [UInt8] = []
    var rest = stream.prefix(limit)
    while let kind = rest.first {
      guard kind == 22, rest.dropFirst().first.map({ $0 == 3 }) ?? true else { return .other }
      guard rest.count >= 5 else { break }
      let start = rest.startIndex
      let length = Int(rest[start + 3]) << 8 | Int(rest[start + 4])
      guard (1...16_384).contains(length) else { return .other }
      message += rest.dropFirst(5).prefix(length)
      rest = rest.dropFirst(5 + length)
      if message.first.map({ $0 != 1 }) ?? false { return .other }
      guard message.count >= 4 else { continue }
      let end = 4 + (Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3]))
      guard 5 + end <= limit else { return .other }
      guard message.count >= end else { continue }
      // One record, one piece: the shortest way through the reader.
      var reader = ClientHelloReader(limit: 5 + end)
      return records(Array(message.prefix(end)), of: 16_384).withUnsafeBytes { reader.read($0) }
    }
    return stream.count > limit ? .other : .incomplete
  }

  private static func records(_ message: [UInt8], of length: Int) -> [UInt8] {
    stride(from: 0, to: message.count, by: length).flatMap { start in
      let fragment = message[start...].prefix(length)
      return [22, 3, 1, UInt8(fragment.count >> 8), UInt8(fragment.count & 0xFF)] + fragment
    }
  }

  /// Returns the joined contents of complete and incomplete records.
  private static func joined(_ stream: [UInt8]) -> [UInt8] {
    var message: [UInt8] = []
    var rest = stream[...]
    while rest.count > 5 {
      let length = Int(rest[rest.startIndex + 3]) << 8 | Int(rest[rest.startIndex + 4])
      message += rest.dropFirst(5).prefix(length)
      rest = rest.dropFirst(5 + length)
    }
    return message
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: part) }
  }
}
