import Foundation

/// A recipient stanza: the part of the header that wraps the file key for one recipient. Stanzas of unknown types are ignored.
struct AgeStanza: Hashable {
  /// The length of a line of the body in base64.
  private static let columns = 64

  /// The type of the stanza and its arguments.
  var arguments: [String]
  var body: [UInt8]

  var text: String {
    let body = UnpaddedBase64.encode(body)
    var lines = stride(from: 0, to: body.count, by: Self.columns).map {
      String(decoding: body[$0..<min($0 + Self.columns, body.count)], as: UTF8.self)
    }
    // The last line must be shorter than the others, so it may be empty.
    if body.count % Self.columns == 0 { lines.append("") }
    return (["-> " + arguments.joined(separator: " ")] + lines).joined(separator: "\n") + "\n"
  }

  /// Reads a stanza.
  ///
  /// - Parameters:
  ///   - line: the first line, which begins with `-> `.
  ///   - next: returns the next line.
  init(_ line: [UInt8], _ next: () throws -> [UInt8]) throws {
    let words = line.dropFirst(3).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (33...126).contains($0) } }) else {
      throw AgeError.malformedHeader("a recipient that cannot be read")
    }
    arguments = words.map { String(decoding: $0, as: UTF8.self) }
    body = []
    while true {
      let line = try next()
      guard line.count <= Self.columns, let bytes = UnpaddedBase64.decode(line) else {
        throw AgeError.malformedHeader("the key of a recipient that is no base 64")
      }
      body += bytes
      if line.count < Self.columns { return }
    }
  }

  init(_ arguments: [String], _ body: [UInt8]) { (self.arguments, self.body) = (arguments, body) }
}

/// Base64 (RFC 4648 section 4) without padding, in its canonical form.
enum UnpaddedBase64 {
  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    let padded = Array(Data(bytes).base64EncodedString().utf8)
    return Array(padded[..<(padded.firstIndex(of: UInt8(ascii: "=")) ?? padded.endIndex)])
  }

  /// Decodes a text; `nil` unless it is canonical, as returned by ``encode(_:)``.
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
    guard padding.count < 3, let bytes = Data(base64Encoded: Data(text) + Data(padding)),
      encode(Array(bytes)).elementsEqual(text)
    else { return nil }
    return Array(bytes)
  }
}
