import Foundation
import NIOCore

/// A request as the hostile server reads it.
struct HostileRequest: Sendable {
  var method: String
  var path: String
  var query: [String: String]
  var accept: String

  /// Removes the first request and its body from `bytes`. Returns `nil` until all of it has arrived.
  init?(_ bytes: inout ByteBuffer) {
    let text = String(buffer: bytes)
    guard let end = text.range(of: "\r\n\r\n") else { return nil }
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    func field(_ name: String) -> String? {
      lines.first { $0.lowercased().hasPrefix(name + ":") }
        .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
    let length = text[..<end.upperBound].utf8.count + (field("content-length").flatMap { Int($0) } ?? 0)
    guard bytes.readableBytes >= length else { return nil }
    bytes.moveReaderIndex(forwardBy: length)
    let words = lines[0].split(separator: " ").map(String.init)
    method = words.first ?? ""
    let target = (words.count > 1 ? words[1] : "").split(separator: "?", maxSplits: 1).map(String.init)
    path = target.first ?? ""
    query = [:]
    for pair in (target.count > 1 ? target[1] : "").split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
      query[sides[0]] = (sides.count > 1 ? sides[1] : "").removingPercentEncoding
    }
    accept = field("accept") ?? ""
  }
}
