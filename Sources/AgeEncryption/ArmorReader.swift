import Foundation

/// A reader for armored files as `age --armor` writes them: base64 (RFC 4648) in lines of 64 columns between a begin
/// line and an end line. Lines may end with CR LF; only whitespace may follow.
final class ArmorReader {
  static let begin = "-----BEGIN AGE ENCRYPTED FILE-----"
  private static let end = "-----END AGE ENCRYPTED FILE-----"
  private static let columns = 64

  private let input: ReadAheadBytes
  private var hasBegun = false
  private var isOver = false
  /// Whether a line was shorter than 64 columns, so that the end line must follow.
  private var isLast = false

  init(_ input: ReadAheadBytes) { self.input = input }

  func read(_ count: Int) throws -> [UInt8] {
    if !hasBegun {
      guard try line().elementsEqual(Self.begin.utf8) else { throw AgeError.malformedArmor }
      hasBegun = true
    }
    var bytes: [UInt8] = []
    while !isOver, bytes.count < count {
      let line = try line()
      if line.elementsEqual(Self.end.utf8) {
        try requireNothingMore()
        isOver = true
      } else {
        guard !isLast, !line.isEmpty, line.count <= Self.columns, let part = Data(base64Encoded: Data(line)),
          part.base64EncodedData().elementsEqual(line)
        else { throw AgeError.malformedArmor }
        isLast = line.count < Self.columns || line.last == UInt8(ascii: "=")
        bytes += part
      }
    }
    return bytes
  }

  private func line() throws -> [UInt8] {
    guard let line = try input.line(atMost: 1024) else {
      // The end line needs no line ending.
      let rest = input.take(input.buffer.count)
      guard rest.elementsEqual(Self.end.utf8) else { throw AgeError.cutOff }
      return rest
    }
    return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  private func requireNothingMore() throws {
    while true {
      try input.fill(1)
      if input.buffer.isEmpty { return }
      guard input.take(input.buffer.count).allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
        throw AgeError.malformedArmor
      }
    }
  }
}
