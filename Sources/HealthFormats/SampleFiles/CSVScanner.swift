import Foundation

/// Reads the rows of a CSV table (RFC 4180) from a stream. Rows end with CR LF, LF or CR; empty rows are skipped.
struct CSVScanner: ~Copyable {
  struct Field {
    var text: String
    /// Whether the field was in quotes. An empty field in quotes is an empty text, otherwise an absent text.
    var isQuoted = false
  }

  /// The maximum number of fields in a row, more than any table of samples has.
  private static let maximumFields = 256

  private let source: any ByteSource
  private let path: String
  private var buffer: [UInt8]
  private var (next, filled) = (0, 0)
  private var isAtEnd = false
  private(set) var bytesRead: Int64 = 0
  private var (line, lineStart) = (1, Int64(0))
  private var lastWasReturn = false
  /// Whether the last row ended with the end of a line.
  private(set) var hasLineEnd = false

  init(source: any ByteSource, path: String, chunkSize: Int = 256 << 10) {
    self.source = source
    self.path = path
    buffer = Array(repeating: 0, count: max(1, chunkSize))
  }

  deinit { source.close() }

  /// Returns the next row and its position, or `nil` at the end.
  mutating func row(limit: Int) throws -> (fields: [Field], at: TextPosition)? {
    try skipMark()
    while let byte = try peek(), byte == 0x0A || byte == 0x0D { take(byte) }
    guard try peek() != nil else { return nil }
    let at = position
    var fields: [Field] = []
    var size = 0
    hasLineEnd = false
    while true {
      guard fields.count < Self.maximumFields else { throw malformed("too many columns") }
      fields.append(try field(limit: limit - size, row: at))
      size += fields[fields.count - 1].text.utf8.count
      guard let byte = try peek() else { return (fields, at) }
      take(byte)
      hasLineEnd = byte != UInt8(ascii: ",")
      if hasLineEnd { return (fields, at) }
    }
  }

  /// Takes the next row if `read` recognises it. Returns the row's length, or `nil` if it was not taken.
  ///
  /// - Parameter read: a closure that receives the buffered bytes from the row's start and returns the row's length
  ///   including its final line feed, or `nil` to refuse it. The row must not contain any other line end.
  mutating func plainRow(_ read: (Bytes) -> Int?) throws -> Int? {
    while let byte = try peek(), byte == 0x0A || byte == 0x0D { take(byte) }
    guard try peek() != nil else { return nil }
    let length = buffer.withUnsafeBufferPointer { bytes in
      // The buffer holds at least one byte.
      bytes.baseAddress.flatMap { read(Bytes($0 + next, filled - next)) }
    }
    guard let length else { return nil }
    next += length
    (line, lineStart, lastWasReturn) = (line + 1, bytesRead + Int64(next), false)
    return length
  }

  /// Reads a field up to the comma or line end, which is not consumed.
  private mutating func field(limit: Int, row: TextPosition) throws -> Field {
    var bytes: [UInt8] = []
    let isQuoted = try peek() == UInt8(ascii: "\"")
    if isQuoted {
      take(UInt8(ascii: "\""))
      while true {
        guard let byte = try peek() else { throw SampleFileError.endsEarly(path: path, at: row) }
        take(byte)
        if byte == UInt8(ascii: "\"") {
          guard try peek() == byte else { break }
          take(byte)
        }
        bytes.append(byte)
        if bytes.count > limit { throw SampleFileError.tooLarge(path: path, at: row) }
      }
      if let byte = try peek(), !Self.endsField(byte) { throw malformed("something follows a closing quote") }
    } else {
      while let byte = try peek(), !Self.endsField(byte) {
        if byte == UInt8(ascii: "\"") { throw malformed("a quote in a field without quotes") }
        take(byte)
        bytes.append(byte)
        if bytes.count > limit { throw SampleFileError.tooLarge(path: path, at: row) }
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed("a field is not UTF-8") }
    return Field(text: text, isQuoted: isQuoted)
  }

  private static func endsField(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == 0x0A || byte == 0x0D }

  /// Skips a UTF-8 byte order mark at the beginning of the file.
  private mutating func skipMark() throws {
    guard position.offset == 0, try peek() == 0xEF else { return }
    for byte in [0xEF, 0xBB, 0xBF] as [UInt8] {
      guard try peek() == byte else { throw malformed("the file is not UTF-8") }
      take(byte)
    }
  }

  private mutating func peek() throws -> UInt8? {
    if next == filled {
      if isAtEnd { return nil }
      bytesRead += Int64(filled)
      (next, filled) = (0, 0)
      let count = buffer.count
      filled = try buffer.withUnsafeMutableBufferPointer { bytes in
        // The buffer is never empty: see the initialiser.
        try bytes.baseAddress.map { try source.read(into: $0, count: count) } ?? 0
      }
      isAtEnd = filled == 0
      if isAtEnd { return nil }
    }
    return buffer[next]
  }

  private mutating func take(_ byte: UInt8) {
    next += 1
    // CR LF is a single line end.
    if byte == 0x0D || byte == 0x0A && !lastWasReturn { line += 1 }
    if byte == 0x0D || byte == 0x0A { lineStart = bytesRead + Int64(next) }
    lastWasReturn = byte == 0x0D
  }

  var position: TextPosition {
    let offset = bytesRead + Int64(next)
    return TextPosition(line: line, column: Int(offset - lineStart) + 1, offset: offset)
  }

  func malformed(_ detail: String, at place: TextPosition? = nil) -> SampleFileError {
    .malformed(path: path, detail: detail, at: place ?? position)
  }
}
