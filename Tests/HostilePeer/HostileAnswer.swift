import Foundation

/// An HTTP response and the way in which it is delivered.
struct HostileAnswer: Sendable {
  enum Piece: Sendable {
    case bytes([UInt8])
    /// A wait of this many virtual seconds.
    case wait(Int)
    case close
  }

  var status = 200
  var type = "application/json"
  var headers: [String] = []
  var body: [UInt8]

  /// Returns the response in pieces: honest, except for the changes that the choices make.
  func pieces(_ choices: inout Choices) -> [Piece] {
    var answer = self
    if choices.oneIn(12) { answer.status = choices.pick(Self.statuses) }
    if choices.oneIn(12) { answer.type = choices.pick(Self.types) }
    if choices.oneIn(6) { answer.headers.append(choices.pick(Self.names) + ": " + choices.extreme()) }
    return Self.delivered(answer.bytes(&choices), &choices)
  }

  private static let statuses = [
    500, 100, 101, 103, 199, 204, 206, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 410, 412, 413, 416, 421,
    423, 425, 426, 429, 431, 451, 501, 502, 503, 504, 599, 600, 999,
  ]
  private static let types = [
    "application/x-ndjson", "application/vnd.hpeer.changes.3", "text/html", "", "application/json; charset=\"", ";",
    "application/vnd.hpeer.changes.3; a=b", "application/vnd.hpeer.changes",
  ]
  private static let names = [
    "Retry-After", "Hpeer-Changes", "Hpeer-Name", "Content-Length", "Transfer-Encoding", "Content-Encoding", "Location",
    "Connection", "Upgrade", "Date", "Trailer",
  ]

  private func bytes(_ choices: inout Choices) -> [UInt8] {
    if choices.oneIn(40) { return (0..<choices.below(2_000)).map { _ in choices.byte() } }
    var head = ""
    if choices.oneIn(20) {
      let count = choices.pick([1, 3, 2_000])
      head += String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: count)
    }
    head += "HTTP/1.\(choices.oneIn(30) ? 0 : 1) \(status) Words\r\nContent-Type: \(type)\r\n"
    for header in headers { head += header + "\r\n" }
    if choices.oneIn(30) {
      head += String(repeating: "X-Filler: \(choices.extreme())\r\n", count: choices.below(5_000))
    }
    var bytes: [UInt8]
    switch choices.below(8) {
    case 5...6: bytes = Array((head + "Transfer-Encoding: chunked\r\n\r\n").utf8) + chunked(&choices)
    case 7:
      let length = choices.pick([String(body.count + 1), String(max(0, body.count - 1)), choices.extreme()])
      bytes = Array((head + "Content-Length: \(length)\r\n\r\n").utf8) + body
    default: bytes = Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
    }
    if choices.oneIn(30) { bytes += bytes }
    return bytes
  }

  private func chunked(_ choices: inout Choices) -> [UInt8] {
    var chunks: [UInt8] = []
    var rest = body[...]
    let size = choices.pick([4_096, 1, 7, 100, 65_536])
    while !rest.isEmpty {
      let piece = rest.prefix(rest.count > 20_000 ? 4_096 : size)
      rest = rest.dropFirst(piece.count)
      chunks += Array(String(piece.count, radix: 16).utf8)
      if choices.oneIn(50) {
        chunks += Array(";a=".utf8) + [UInt8](repeating: UInt8(ascii: "b"), count: choices.below(9_000))
      }
      chunks += Array("\r\n".utf8) + piece + Array("\r\n".utf8)
    }
    if choices.oneIn(10) { return chunks }
    if choices.oneIn(10) { return chunks + Array("\(choices.extreme())\r\n\r\n".utf8) }
    let trailers = choices.oneIn(10) ? String(repeating: "a: b\r\n", count: choices.below(5_000)) : ""
    return chunks + Array("0\r\n\(trailers)\r\n".utf8)
  }

  private static func delivered(_ bytes: [UInt8], _ choices: inout Choices) -> [Piece] {
    var pieces: [Piece] = []
    var rest = bytes[...]
    if choices.oneIn(15) { rest = rest.prefix(choices.below(max(1, min(65_536, rest.count)))) }
    let size = choices.pick([65_536, 65_536, 16_384, 1_000, 1])
    while !rest.isEmpty {
      let piece = rest.prefix(rest.count > 2_000 ? max(size, 1_000) : max(size, rest.count / 50))
      rest = rest.dropFirst(piece.count)
      pieces.append(.bytes(Array(piece)))
      if choices.oneIn(60) { pieces.append(.wait(choices.pick([1, 20, 29, 31, 3_600]))) }
    }
    if choices.oneIn(20) { pieces.append(.close) }
    return pieces
  }
}
