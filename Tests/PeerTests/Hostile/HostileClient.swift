import Foundation
import HealthModel
import NIOCore
import PeerProtocol
import PeerTrust
import TestSupport

/// A generator of hostile requests from a seed: all kinds of requests with extreme values, in pieces, truncated,
/// repeated, or not HTTP at all.
struct HostileClient {
  private var generator: SeededGenerator
  private let tokens: [String]

  /// - Parameter tokens: Valid and invalid tokens.
  init(seed: UInt64, tokens: [String]) {
    generator = SeededGenerator(seed: seed)
    self.tokens = tokens
  }

  /// Returns the writes on a connection, in order.
  mutating func conversation() -> [ByteBuffer] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...5, using: &generator) { bytes += request() }
    if chance(8) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator)) }
    if chance(8) { mutate(&bytes) }
    var pieces: [ByteBuffer] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = chance(3) ? Int.random(in: 1...rest.count, using: &generator) : rest.count
      pieces.append(ByteBuffer(bytes: rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
      bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
    }
  }

  // MARK: Requests

  private mutating func request() -> [UInt8] {
    var body = chance(3) ? self.body() : ""
    var lines = ["\(method()) \(target()) HTTP/\(pick(["1.1", "1.1", "1.1", "1.1", "1.0", "2.0", "9999999999.1"]))"]
    if !chance(20) { lines.append("Host: \(pick(["a", "127.0.0.1", "", "[::1]:99999999999999999999"]))") }
    if chance(30) { lines.append("Host: b") }
    if !chance(4) { lines.append("Authorization: \(pick(["Bearer ", "bearer ", "Basic ", ""]))\(pick(tokens))") }
    lines.append("Accept: \(ChangeFeedFormat.lines.rawValue)")
    for _ in 0..<(chance(5) ? Int.random(in: 1...120, using: &generator) : 0) {
      lines.append("X-\(text()): \(text())")
    }
    if chance(6) { lines.append("\(PeerName.header): \(text())") }
    if chance(6) { lines.append("Hpeer-Person: \(text())") }
    if chance(8) { lines.append("Expect: 100-continue") }
    if chance(8) { lines.append("Upgrade: h2c\r\nConnection: Upgrade") }
    if chance(8) { lines.append("Range: bytes=\(number())-\(number())") }
    switch Int.random(in: 0..<8, using: &generator) {
    case 0:
      lines.append("Transfer-Encoding: chunked")
      body = "\(pick(["5", "0", "ffffffffffffffff", "-1", "7fffffffffffffff", "zz"]))\r\n\(body)\r\n0\r\n\r\n"
    case 1: lines.append("Content-Length: \(number())")
    default: if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }

  private mutating func method() -> String {
    pick(["GET", "GET", "GET", "HEAD", "POST", "POST", "DELETE", "PUT", "OPTIONS", "CONNECT", "PRI", "get", text()])
  }

  private mutating func target() -> String {
    let path = pick([
      Route.status, Route.openAPI, Route.pairHello, Route.pairStart, Route.pairFinish, Route.plainPair, Route.types,
      Route.data, Route.data, Route.changes, Route.changes, Route.changes, Route.digest, Route.digest, Route.person,
      "/", "*", "//\(text())", "http://a\(Route.changes)", "/../..\(Route.types)",
    ])
    guard !chance(4) else { return path }
    let names = ["since", "types", "limit", "wait", "type", "offset", "dates", "from", "to", "deep", text()]
    let items = (0..<Int.random(in: 1...4, using: &generator)).map { _ in "\(pick(names))=\(value())" }
    return path + "?" + items.joined(separator: "&")
  }

  private mutating func value() -> String {
    switch Int.random(in: 0..<6, using: &generator) {
    case 0, 1: number()
    case 2: pick(["heartRate", "stepCount", "bloodPressure", "workout", "heartRate,heartRate", ",", "*", "nonsense"])
    case 3: pick(["2024-06", "0000-00", "99999-12", "2024-13", "-1-1", "true", "iso8601", "reference"])
    case 4: pick(tokens)
    default: text()
    }
  }

  private mutating func body() -> String {
    let keys = [
      "code", "deviceName", "clientId", "id", "version", "share", "confirm", "session", "name", "claim", "person",
      "mac",
      "expiry", text(),
    ]
    let members = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
      "\"\(pick(keys))\":\(pick([number(), "\"\(text())\"", "null", "[\(number())]", "{}", "\"\(pick(tokens))\"", "000000"]))"
    }
    let object = "{" + members.joined(separator: ",") + "}"
    return chance(6) ? String(repeating: "[", count: Int.random(in: 1...20_000, using: &generator)) + object : object
  }

  // MARK: Values

  private mutating func number() -> String {
    pick([
      "0", "1", "-1", "2", "50", "51", "1000", "2147483647", "2147483648", "4294967296", "9223372036854775807",
      "-9223372036854775808", "9223372036854775808", "18446744073709551615", "99999999999999999999999", "1e19", "1e300",
      "-1e300", "NaN", "0x10", "1.5", "٣", "", "+5", " 7",
    ])
  }

  private mutating func text() -> String {
    let letters = [
      "a", "Z", "0", "-", "%00", "%", "%C3%28", "ü", "🜨", "\u{202E}", "{", "\"", "\\", "'", ";", "..", "/",
    ]
    let word = (0..<Int.random(in: 0...12, using: &generator)).map { _ in pick(letters) }.joined()
    // Long ones repeat themselves, which takes less time to make.
    return chance(12) ? String(repeating: word, count: Int.random(in: 100...4_000, using: &generator)) : word
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &generator)]
  }

  /// Returns `true` with a probability of 1 in `count`.
  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
}
