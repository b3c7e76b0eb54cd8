import Foundation
import PeerProtocol

/// A parser of one HTTP answer from the bytes of a connection. `Content-Length` determines its length; without it,
/// the answer ends with the connection.
///
/// Any input is safe: the head and the body are limited by ``ClientLimits``.
package struct AppAnswerReader {
  package enum Failure: Error, Hashable {
    /// The bytes are not HTTP, or in a form that the apps do not use.
    case notHTTP
    /// The head or the body exceeds its limit.
    case tooLong
    /// The connection ended before the answer did.
    case cutOff
  }

  private let headLimit: Int
  private let bodyLimit: Int
  private var bytes: [UInt8] = []
  /// The index at which the search for the end of the head continues.
  private var searched = 0
  private var head: (status: Int, length: Int?, end: Int)?

  package init(_ limits: ClientLimits) {
    (headLimit, bodyLimit) = (limits.framingBytes, limits.appAnswerBytes)
  }

  /// Reads the next bytes.
  ///
  /// - Returns: the answer once it is complete, else nil.
  package mutating func receive(_ more: some Collection<UInt8>) throws(Failure) -> AppAnswer? {
    bytes.append(contentsOf: more)
    if head == nil { head = try findHead() }
    guard let head else { return nil }
    guard bytes.count - head.end <= bodyLimit else { throw .tooLong }
    guard let length = head.length, bytes.count - head.end >= length else { return nil }
    return AppAnswer(status: head.status, body: Array(bytes[head.end..<head.end + length]))
  }

  /// Returns the answer that the end of the connection completes.
  package func end() throws(Failure) -> AppAnswer {
    guard let head, head.length == nil else { throw .cutOff }
    return AppAnswer(status: head.status, body: Array(bytes[head.end...]))
  }

  private mutating func findHead() throws(Failure) -> (status: Int, length: Int?, end: Int)? {
    let mark: [UInt8] = [13, 10, 13, 10]
    var index = searched
    while index + mark.count <= bytes.count {
      if bytes[index] == 13, Array(bytes[index..<index + mark.count]) == mark {
        return try Self.head(bytes[..<index], end: index + mark.count)
      }
      index += 1
    }
    searched = max(0, bytes.count - mark.count + 1)
    guard bytes.count <= headLimit else { throw .tooLong }
    return nil
  }

  private static func head(
    _ bytes: ArraySlice<UInt8>, end: Int
  ) throws(Failure) -> (status: Int, length: Int?, end: Int) {
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3, let status = Int(words[1]),
      (200...599).contains(status)
    else { throw .notHTTP }
    var length: Int?
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { throw .notHTTP }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      switch line[..<colon].lowercased() {
      case "content-length":
        guard let count = WireCount(value)?.rawValue, length == nil || length == count else { throw .notHTTP }
        length = count
      case "transfer-encoding": throw .notHTTP
      default: continue
      }
    }
    return (status, length, end)
  }
}
